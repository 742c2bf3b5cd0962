"""``property_filter.hog`` in hand-written Python."""

ALLOWED = [
    "order_id", "amount", "currency", "plan", "$current_url", "$browser", "$os", "title",
]  # fmt: skip


def main(given):
    event = given["event"]
    properties = {}
    for name in ALLOWED:
        value = event["properties"].get(name)
        if value is not None and value != "":
            properties[name.replace("$", "").lower()] = value
    return {
        "event": event["event"],
        "distinct_id": event["distinct_id"],
        "properties": properties,
        "count": len(properties),
    }
