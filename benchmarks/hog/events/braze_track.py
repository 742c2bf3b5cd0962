"""``braze_track.hog`` in hand-written Python."""

import math
from datetime import datetime


def main(given):
    event, known = given["event"], given["person"]["properties"]
    seconds = math.floor(datetime.fromisoformat(event["timestamp"]).timestamp() * 1000) / 1000
    user = event["distinct_id"]
    attributes = {"external_id": user} | {
        key: value
        for key, value in known.items()
        if not key.startswith("initial_") and isinstance(value, str | int | float)
    }
    purchases = [
        {
            "external_id": user,
            "product_id": item["sku"],
            "currency": event["properties"]["currency"],
            "price": item["price"],
            "quantity": item["quantity"],
            "time": seconds,
        }
        for item in event["properties"]["items"]
    ]
    happened = {"external_id": user, "name": event["event"], "time": seconds}
    return {"attributes": [attributes], "events": [happened], "purchases": purchases}
