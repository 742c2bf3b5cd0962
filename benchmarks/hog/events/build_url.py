from urllib.parse import quote


def main(g):
    e = g["event"]
    p = e["properties"]
    query = [
        f"order={p['order_id']}",
        "email=" + quote(p["email"].lower(), safe=""),
        "from=" + quote(p["$pathname"], safe=""),
    ]
    if p["coupon"]:
        query.append("coupon=" + quote(p["coupon"], safe=""))
    user = quote(e["distinct_id"], safe="")
    return {"url": f"https://crm.example.com/{user}?{'&'.join(query)}", "method": "POST"}
