"""``revenue.hog`` in hand-written Python."""

from math import floor

RATES = {"EUR": 1, "USD": 0.92, "GBP": 1.17, "SEK": 0.088}
TAXES = {"paper": 0.07, "machine": 0.19}


def main(given):
    p = given["event"]["properties"]
    rate = RATES.get(p.get("currency") or "EUR", 1)
    sums, kinds = {"gross": 0, "net": 0, "tax": 0}, {}
    for item in p["items"]:
        kind = item["tags"][0] if item["tags"] else "other"
        gross = item["price"] * item["quantity"] * rate
        net = gross / (1 + TAXES.get(kind, 0.19))
        sums["gross"] += gross
        sums["net"] += net
        sums["tax"] += gross - net
        kinds[kind] = kinds.get(kind, 0) + gross
    for name, value in sums.items():
        sums[name] = floor(value * 100 + 0.5) / 100
    best = None
    for kind, gross in kinds.items():
        if best is None or gross > kinds[best]:
            best = kind
    return {
        "order": p["order_id"],
        "currency": "EUR",
        "sums": sums,
        "best_kind": best,
        "kinds": len(kinds),
        "is_large": sums["gross"] > 200,
    }
