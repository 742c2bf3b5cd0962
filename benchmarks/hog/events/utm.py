"""``utm.hog`` in hand-written Python."""

import re
from typing import Any
from urllib.parse import unquote


def main(given: dict[str, Any]) -> Any:
    url = given["event"]["properties"]["$current_url"]
    out = {}
    query = url.split("?")
    if len(query) > 1:
        for pair in query[1].split("&"):
            key, _, value = pair.partition("=")
            if key.startswith("utm_"):
                out[key] = unquote(value)
    out["is_paid"] = out.get("utm_medium") in ("cpc", "ppc", "paid")
    match = re.search("^https?://([^/]+)/", url)
    out["domain"] = match.group(1) if match else ""
    return out
