"""``meta_conversion.hog`` in hand-written Python."""

from datetime import datetime
from hashlib import sha256


def main(given):
    event, known = given["event"], given["person"]["properties"]
    p = event["properties"]
    fields = {
        "em": known["email"].strip(" ").lower(),
        "fn": known["first_name"].lower(),
        "ln": known["last_name"].lower(),
        "ph": known["phone"].replace(" ", "").replace("+", ""),
        "ct": known["address"]["city"].lower(),
        "country": known["country"].lower(),
    }
    user = {name: [sha256(value.encode()).hexdigest()] for name, value in fields.items() if value}
    user["client_ip_address"] = p["$ip"]
    user["client_user_agent"] = p["$raw_user_agent"]
    at = datetime.fromisoformat(event["timestamp"]).timestamp()
    if p.get("fbclid"):
        user["fbc"] = f"fb.1.{int(at * 1000)}.{p['fbclid']}"
    return {
        "event_name": "Purchase",
        "event_id": event["uuid"],
        "event_time": int(at),
        "action_source": "website",
        "event_source_url": p["$current_url"],
        "user_data": user,
        "custom_data": {
            "currency": p["currency"].upper(),
            "value": p["amount"],
            "content_ids": [item["sku"] for item in p["items"]],
            "num_items": len(p["items"]),
        },
    }
