"""``utm_regex.hog`` in hand-written Python."""

import re
from urllib.parse import unquote


def main(given):
    properties = given["event"]["properties"]
    url = properties["$current_url"]

    def parameter(name):
        match = re.search(f"[?&]{name}=([^&#]*)", url)
        return unquote(match[1]) if match and match[1] else None

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
