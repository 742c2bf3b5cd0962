"""``text_payload.hog`` in hand-written Python."""

import json


def main(given):
    raw, parsed = given["event"]["properties"].get("payload"), None
    if isinstance(raw, str):
        try:
            parsed = json.loads(raw)
        except ValueError:
            parsed = None
    if parsed is None:
        return {"ok": False, "reason": "no payload"}
    cart, visits = parsed["cart"], parsed["visits"]
    return {
        "ok": True,
        "cart": cart["id"],
        "count": sum(line["n"] for line in cart["lines"]),
        "first": cart["lines"][0]["sku"],
        "last_visit": visits[-1],
        "express": "yes" if cart["flags"]["express"] else "no",
        "note": "none" if parsed.get("note") is None else parsed["note"],
    }
