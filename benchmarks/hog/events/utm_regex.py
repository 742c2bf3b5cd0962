"""``utm_regex.hog`` in hand-written Python."""

import re
from urllib.parse import unquote


def main(given):
    properties = given["event"]["properties"]
    url = properties["$current_url"]

    def parameter(name):
        found = re.search(f"[?&]{name}=([^&#]*)", url)
        return unquote(found[1]) if found and found[1] else None

    channel = "direct"
    if re.search(r"(google|bing|duckduckgo)\.", properties["$referrer"]):
        channel = "search"
    medium = parameter("utm_medium")
    if medium in ("cpc", "ppc"):
        channel = f"paid {channel}"
    return {
        "source": parameter("utm_source"),
        "medium": medium,
        "campaign": parameter("utm_campaign"),
        "channel": channel,
    }
