def printed(value):
    if isinstance(value, str):
        return "'" + value + "'"
    if isinstance(value, list):
        return "[" + ", ".join([printed(item) for item in value]) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join([f"'{k}': {printed(v)}" for k, v in value.items()]) + "}"
    if value is None:
        return "null"
    return (
        {True: "true", False: "false"}.get(value, str(value))
        if isinstance(value, bool)
        else str(value)
    )


def main(g):
    lines = []
    e = g["event"]
    p = e["properties"]
    lines.append(" ".join(["event", e["event"], str(p["amount"])]))
    lines.append(f"order {p['order_id']} of {g['person']['name']}")
    lines.append("items " + printed(p["items"]))
    lines.append(
        " ".join(["shipping", p["shipping"]["method"], printed(p["gift"]), printed(p["coupon"])])
    )
    count = 0
    for item in p["items"]:
        count += item["quantity"]
        lines.append(f"{item['sku']} {item['quantity']}")
    return count
