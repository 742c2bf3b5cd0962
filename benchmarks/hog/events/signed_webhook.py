"""``signed_webhook.hog`` in hand-written Python."""

import hmac
import json
from datetime import datetime


def main(given):
    event, inputs = given["event"], given["inputs"]
    p = event["properties"]
    data = {
        "order": p["order_id"],
        "total": p["amount"],
        "currency": p["currency"],
        "gift": p["gift"],
    }
    body = json.dumps(
        {
            "id": event["uuid"],
            "type": event["event"],
            "user": event["distinct_id"],
            "data": data,
        },
        separators=(",", ":"),
        ensure_ascii=False,
    )
    seconds = int(datetime.fromisoformat(event["timestamp"]).timestamp())
    signature = hmac.digest(inputs["salt"].encode(), f"{seconds}.{body}".encode(), "sha256").hex()
    headers = {
        "Content-Type": "application/json",
        "X-Signature": f"t={seconds},v1={signature}",
        "X-Idempotency-Key": event["uuid"],
        **inputs["headers"],
    }
    return {"url": inputs["url"], "method": "POST", "headers": headers, "body": body}
