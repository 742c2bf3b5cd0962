"""``router.hog`` in hand-written Python."""

PURCHASES = ("order placed", "subscription started", "invoice paid")


def is_purchase(name):
    return name in PURCHASES


def is_internal(event):
    p = event["properties"]
    return p["email"].lower().endswith("@example.com") or p["$ip"] == "127.0.0.1"


def target(event):
    if is_internal(event):
        return "internal"
    return "revenue" if is_purchase(event["event"]) else "product"


def main(given):
    event, lines = given["event"], []
    name = target(event)
    payload = {
        "target": name,
        "event": event["event"],
        "value": event["properties"]["amount"] if is_purchase(event["event"]) else None,
        "ts": event["timestamp"],
    }
    if payload["value"] is None:
        lines.append("skipped no value")
    else:
        lines.append(f"{name} {payload['value']}")
    return payload
