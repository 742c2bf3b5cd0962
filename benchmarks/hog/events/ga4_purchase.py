"""``ga4_purchase.hog`` in hand-written Python."""


def main(given):
    event = given["event"]
    p = event["properties"]
    items = [
        {
            "item_id": item["sku"],
            "item_name": item["name"],
            "item_category": item["tags"][0] if item["tags"] else "none",
            "price": float(item["price"]),
            "quantity": int(item["quantity"]),
            "index": index,
        }
        for index, item in enumerate(p["items"], 1)
    ]
    params = {
        "transaction_id": str(p["order_id"]),
        "currency": p["currency"],
        "value": p["amount"],
        "shipping": p["shipping"].get("cost") or 0,
        "items": items,
    }
    if p.get("coupon") is not None:
        params["coupon"] = p["coupon"]
    if p.get("$referrer"):
        params["page_referrer"] = p["$referrer"]
    return {
        "client_id": p.get("$device_id") or event["distinct_id"],
        "user_id": event["distinct_id"],
        "events": [{"name": event["event"].replace(" ", "_"), "params": params}],
    }
