"""``anonymize.hog`` in hand-written Python."""

import copy
import math


def main(given):
    event = copy.deepcopy(given["event"])
    p = event["properties"]
    ip = p.get("$ip")
    if ip is not None:
        parts = ip.split(".")
        p["$ip"] = f"{parts[0]}.{parts[1]}.{parts[2]}.0" if len(parts) == 4 else None
    for name in ("$current_url", "$referrer"):
        url = p[name]
        if "?" in url:
            p[name] = url[: url.index("?")]
    p["$raw_user_agent"] = None
    p["$geoip_latitude"] = math.floor(p["$geoip_latitude"] + 0.5)
    p["$geoip_longitude"] = math.floor(p["$geoip_longitude"] + 0.5)
    return event
