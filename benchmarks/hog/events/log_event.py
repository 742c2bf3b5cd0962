"""``log_event.hog`` in hand-written Python; what it prints is formatted by Python."""

import json


def main(given):
    event, person = given["event"], given["person"]
    lines = [f"person {person}", f"{event}"]
    answer = {"status": 202, "body": {"ok": True}}
    lines.append(f"{event['event']} of {person['name']}: {answer['status']} {answer['body']}")
    return {"body": json.dumps(event["properties"]["shipping"], separators=(",", ":"))}
