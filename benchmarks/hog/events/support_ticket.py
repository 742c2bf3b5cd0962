"""``support_ticket.hog`` in hand-written Python."""

NAMES = ("order_id", "amount", "payment_method", "coupon", "note", "$browser", "$os")


def main(given):
    event, person = given["event"], given["person"]
    p, q = event["properties"], person["properties"]
    body = f"Reported by {q['first_name']} ({person['url']})\n"
    for name in NAMES:
        value = p.get(name)
        if value not in (None, "", [], {}):
            text = str(value)
            body += f"{name.strip('$')}: {text[:37] + '...' if len(text) > 40 else text}\n"
    tags = []
    for tag in q["tags"]:
        if tag not in tags:
            tags.append(f"customer_{tag}")
    priority = "low"
    if q["plan"] in ("scale", "enterprise") or q["ltv"] > 5000:
        priority = "urgent"
    elif q["orders"] >= 10 and p["amount"] > 100:
        priority = "high"
    return {
        "ticket": {
            "subject": event["event"][:1].upper() + event["event"][1:],
            "comment": {"body": body},
            "priority": priority,
            "tags": tags,
            "requester": {"name": f"{q['first_name']} {q['last_name']}", "email": q["email"]},
            "external_id": event["uuid"],
        }
    }
