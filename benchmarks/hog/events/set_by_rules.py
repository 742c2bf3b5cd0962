"""``set_by_rules.hog`` in hand-written Python."""

import copy
import math
import re
from typing import Any


def main(given: dict[str, Any]) -> Any:
    event = copy.deepcopy(given["event"])
    p = event["properties"]
    country = p.get("$geoip_country_code") or "unknown"
    p["region"] = "EU" if country in ("DE", "FR", "GB") else "other"
    p["is_mobile"] = p.get("$device_type") == "Mobile" or "Android" in p.get("$os", "")
    p["path_group"] = "checkout" if re.match("/checkout", p["$pathname"]) else "other"
    p["value_eur"] = math.floor(p["amount"] * 0.92 + 0.5)
    return event
