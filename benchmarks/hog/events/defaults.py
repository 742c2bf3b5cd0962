def first(*values):
    for value in values:
        if value is not None:
            return value
    return None


def main(g):
    q, p = g["person"]["properties"], g["event"]["properties"]
    city = first(p.get("city"), q.get("city"), q["address"].get("city"), "unknown")
    email = first(p.get("$email"), (p.get("user") or {}).get("email"), q.get("email"), "none")
    phone = first(q.get("mobile"), q.get("phone"), p.get("phone"), "")
    name = q.get("name") or f"{q.get('first_name') or ''} {q.get('last_name') or ''}".strip()
    locale = q["language"].split("-")[0] if q.get("language") else "en"
    when = first(p.get("sent_at"), p.get("created_at"), g["event"]["timestamp"])
    return {
        "city": city,
        "email": email,
        "phone": phone.replace(" ", ""),
        "name": name,
        "locale": locale,
        "when": when,
        "amount": float(first(p.get("amount"), "0")),
        "anonymous": q.get("id") is None,
    }
