"""``request_log.hog`` in hand-written Python."""

import json

from benchmarks.hog.printing import printed


def main(given):
    e, person, lines = given["event"], given["person"]["properties"], []
    p = e["properties"]
    payload = {
        "event": e["event"],
        "occurred_at": e["timestamp"],
        "user": {
            "id": e["distinct_id"],
            "name": f"{person['first_name']} {person['last_name']}",
            "email": person["email"].lower(),
            "vip": "vip" in person["tags"],
        },
        "order": {
            "id": p["order_id"],
            "amount": p["amount"],
            "currency": p["currency"],
            "coupon": p["coupon"],
            "note": p["note"] or "",
        },
        "source": "hoglet",
    }
    body = json.dumps(payload, separators=(",", ":"))
    url = given["inputs"]["url"]
    lines.append(f"sending {len(body)} bytes to {url}")
    lines.append(printed(payload))
    lines.append(body)
    if len(body) > 100000:
        raise ValueError("too large")
    headers = {"Content-Type": "application/json", "X-Event": e["uuid"]}
    return {"url": url, "body": body, "headers": headers}
