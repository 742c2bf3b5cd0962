"""``customerio.hog`` in hand-written Python."""

from datetime import UTC, datetime


def main(given):
    event, known = given["event"], given["person"]["properties"]
    attributes = {}
    for key, value in event["properties"].items():
        if "$" in key or value is None:
            continue
        if isinstance(value, list):
            attributes[key] = len(value)
        elif isinstance(value, str) and key.endswith("_at"):
            attributes[key] = int(datetime.fromisoformat(value).replace(tzinfo=UTC).timestamp())
        else:
            attributes[key] = value
    email = known.get("email")
    name = event["event"]
    action = "identify" if name == "$identify" else "page" if name == "$pageview" else "event"
    return {
        "type": "person",
        "action": action,
        "name": name,
        "identifiers": {"email": email} if email else {"id": event["distinct_id"]},
        "attributes": attributes,
    }
