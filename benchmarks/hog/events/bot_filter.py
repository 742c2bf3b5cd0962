import copy
import re

HOST = re.compile(r"^(staging|dev)\.")
BOTS = [
    "bot",
    "crawler",
    "spider",
    "headless",
    "phantomjs",
    "curl",
    "wget",
    "python-requests",
    "lighthouse",
    "gtmetrix",
]


def main(g):
    p = g["event"]["properties"]
    agent = (p.get("$raw_user_agent") or "").lower()
    if not agent:
        return None
    for bot in BOTS:
        if bot in agent:
            return None
    if p["$ip"].startswith("10.") or HOST.search(p["$host"]):
        return None
    if any(bot in p["$browser"].lower() for bot in BOTS):
        return None
    return copy.deepcopy(g["event"])
