import hashlib
import json
from pathlib import Path

GLOBALS = json.loads(Path(__file__).with_name("shaping.globals.json").read_text())


def shape(event, person):
    properties = {
        key.lower(): value for key, value in event["properties"].items() if "$" not in key
    }
    email = person["properties"].get("email") or event["properties"].get("email")
    first = person["properties"].get("first") or "unknown"
    name = f"{first} {person['properties'].get('last') or ''}"
    if not email:
        return None
    return {
        "text": f"{name} did {event['event']} at {event['timestamp']}",
        "user": {"id": event["distinct_id"], "email": email.lower(), "name": name.strip()},
        "properties": properties,
        "hash": hashlib.sha256(email.encode()).hexdigest(),
        "big": "yes" if event["properties"]["amount"] > 100 else "no",
    }


def main(write):
    shaped = size = 0
    for _ in range(100):
        body = shape(GLOBALS["event"], GLOBALS["person"])
        if body is not None:
            shaped += 1
            size += len(json.dumps(body, separators=(",", ":")))
    write(f"{shaped} {size}")
