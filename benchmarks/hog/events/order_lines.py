"""``order_lines.hog`` in hand-written Python."""

import math


def main(given):
    p = given["event"]["properties"]
    lines = []
    for item in p["items"]:
        price = math.floor(item["price"] * item["quantity"] * 100 + 0.5) / 100
        price = int(price) if price.is_integer() else price
        lines.append(f"{item['quantity']} x {item['name']}: {price}")
    cheapest = min(p["items"], key=lambda item: item["price"])
    paid = p["amount"] - (p.get("discount") or 0)
    grade = "gold" if paid >= 1000 else "silver" if paid >= 250 else "bronze"
    return {
        "to": given["person"]["properties"]["email"].lower(),
        "lines": lines,
        "heavy": any(150 <= item["price"] * item["quantity"] <= 500 for item in p["items"]),
        "cheapest": cheapest["name"],
        "grade": grade,
        "express": p["shipping"]["method"] in ("express", "overnight"),
    }
