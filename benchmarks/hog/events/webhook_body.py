import json


def main(g):
    e, person, inputs = g["event"], g["person"], g["inputs"]
    p, q = e["properties"], person["properties"]
    name = f"{q.get('first_name')} {q.get('last_name')}"
    amount = f"{p.get('amount')} {p.get('currency')}"
    body = {
        "text": f"*{name}* placed order {p.get('order_id')} for {amount}",
        "channel": inputs["channel"],
        "event": {
            "name": e["event"],
            "uuid": e["uuid"],
            "timestamp": e["timestamp"],
            "distinct_id": e["distinct_id"],
        },
        "person": {
            "id": person["id"],
            "email": q["email"].lower(),
            "url": person["url"],
            "plan": q.get("plan") or "free",
        },
        "order": {
            "id": p.get("order_id"),
            "amount": p.get("amount"),
            "coupon": p.get("coupon") or "none",
            "items": len(p["items"]),
            "city": p["shipping"]["address"]["city"],
        },
        "context": {
            "project": g["project"]["name"],
            "source": g["source"]["name"],
            "url": p.get("$current_url"),
        },
    }
    return {
        "url": inputs["url"],
        "method": "POST",
        "headers": dict(inputs["headers"]),
        "body": json.dumps(body, separators=(",", ":")),
    }
