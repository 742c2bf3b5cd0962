def tier(amount):
    if amount >= 1000:
        return "enterprise"
    if amount >= 500:
        return "large"
    if amount >= 250:
        return "medium"
    if amount >= 100:
        return "small"
    return "tiny"


def score(p, q):
    points = 0
    points += 5 if p.get("$device_type") == "Desktop" else 1
    if p.get("$geoip_country_code") in ("GB", "DE", "FR", "US"):
        points += 10
    if q.get("newsletter"):
        points += 3
    if q["orders"] > 10:
        points += 20
    elif q["orders"] > 5:
        points += 10
    if "@example.com" in q["email"] or "@example.com" in q["email"].lower():
        points -= 5
    if (q.get("ltv") or 0) > 1000:
        points += 25
    return points


def main(g):
    p = g["event"]["properties"]
    points = score(p, g["person"]["properties"])
    grade = "A" if points > 50 else "B" if points > 30 else "C" if points > 10 else "D"
    return {
        "tier": tier(p["amount"]),
        "points": points,
        "grade": grade,
        "company": g["groups"]["company"]["properties"].get("name") or "none",
    }
