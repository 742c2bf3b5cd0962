"""``currency_sums.hog`` in hand-written Python."""

import math


def cents(amount):
    hundred = math.floor(amount * 100 + 0.5)
    return hundred // 100 if hundred % 100 == 0 else hundred / 100


def main(given):
    properties = given["event"]["properties"]
    rate = {"EUR": 1.08, "GBP": 1.27, "USD": 1}.get(properties["currency"], 1)
    total, rows = 0, []
    for item in properties["items"]:
        usd = cents(item["price"] * item["quantity"] * rate)
        total += usd
        rows.append({"sku": item["sku"].lower(), "usd": usd})
    was = f"{properties['amount']} {properties['currency']}"
    return {"rows": rows, "total_usd": cents(total), "was": was}
