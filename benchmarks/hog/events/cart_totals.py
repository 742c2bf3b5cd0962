"""``cart_totals.hog`` in hand-written Python."""


def main(given):
    properties = given["event"]["properties"]
    total, quantity, skus, dearest = 0, 0, [], None
    for item in properties["items"]:
        line = item["price"] * item["quantity"]
        total += line
        quantity += item["quantity"]
        skus.append(item["sku"])
        if dearest is None or line > dearest["value"]:
            dearest = {"sku": item["sku"], "value": line}
    return {
        "total": round(total * 100) / 100,
        "quantity": quantity,
        "skus": skus,
        "dearest": dearest,
        "shipping": 0 if total > 200 else properties["shipping"]["cost"],
        "currency": (properties.get("currency") or "usd").upper(),
    }
