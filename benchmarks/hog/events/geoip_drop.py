"""``geoip_drop.hog`` in hand-written Python."""

import copy


def main(given):
    event = given["event"]
    properties = event["properties"]
    if properties.get("$geoip_country_code") in ("RU", "KP", "IR"):
        return None
    result = copy.deepcopy(event)
    result["properties"] = {
        key: copy.deepcopy(value)
        for key, value in properties.items()
        if not key.startswith("$geoip_") and key != "$ip"
    }
    return result
