"""``group_items.hog`` in hand-written Python."""


def main(given):
    p, grouped = given["event"]["properties"], {}
    for item in p["items"]:
        key = item["tags"][0] if item["tags"] else "other"
        group = grouped.setdefault(key, {"count": 0, "total": 0, "names": []})
        group["count"] += item["quantity"]
        group["total"] += item["price"] * item["quantity"]
        group["names"].append(item["name"])
    rows = [
        {
            "group": key,
            "count": group["count"],
            "total": round(group["total"]),
            "names": ", ".join(group["names"]),
        }
        for key, group in grouped.items()
    ]
    return {"order": p["order_id"], "rows": rows, "groups": len(rows)}
