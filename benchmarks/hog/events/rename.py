NAMES = {
    "$browser": "browser",
    "$os": "operating_system",
    "$current_url": "page_url",
    "$ip": "address",
    "order_id": "order",
    "amount": "total",
    "absent": "nothing",
}


def main(g):
    e = g["event"]
    p = e["properties"]
    row = {"event": e["event"], "user": e["distinct_id"]}
    for before, after in NAMES.items():
        value = p.get(before)
        if value is not None:
            row[after] = value
    return row
