"""``json_payload.hog`` in hand-written Python."""

import json


def main(given):
    properties = given["event"]["properties"]
    payload = json.loads(properties["payload"])
    cart = payload["cart"]
    body = {
        "cart": cart["id"],
        "lines": [f"{line['sku']} x{line['n']}" for line in cart["lines"]],
        "total": cart["total"],
        "express": cart["flags"]["express"],
        "visits": len(payload["visits"]),
    }
    return {"body": json.dumps(body, separators=(",", ":")), "email": properties["email"]}
