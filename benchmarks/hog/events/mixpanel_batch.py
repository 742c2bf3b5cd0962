"""``mixpanel_batch.hog`` in hand-written Python."""

from datetime import datetime

KEYS = ["$os", "$browser", "$current_url", "$referrer", "amount", "currency", "coupon"]


def main(given):
    event = given["event"]
    p = event["properties"]
    shared = {"token": "t0k3n", "distinct_id": event["distinct_id"], "ip": p.get("$ip") or "0"}
    time = datetime.fromisoformat(event["timestamp"]).timestamp()
    properties = {"time": time, "$insert_id": p["$insert_id"], **shared}
    for key in KEYS:
        value = p.get(key)
        if value is not None:
            properties[key] = value
    batch = [{"event": event["event"], "properties": properties}]
    for index, item in enumerate(p["items"], 1):
        part = {
            "position": index,
            "sku": item["sku"],
            "price": item["price"],
            "quantity": item["quantity"],
            **shared,
            "$insert_id": f"{p['$insert_id']}-{index}",
        }
        batch.append({"event": "item bought", "properties": part})
    return {
        "url": "https://api.example.com/import?strict=1",
        "batch": batch,
        "size": len(batch),
    }
