from functools import reduce


def main(g):
    items = g["event"]["properties"]["items"]
    lines = [
        {"sku": i["sku"], "total": i["price"] * i["quantity"], "name": i["name"].upper()}
        for i in items
    ]
    large = [line for line in lines if line["total"] > 30]
    total = reduce(lambda s, line: s + line["total"], lines, 0)
    tagged = sum(bool(i["tags"]) for i in items)
    return {
        "lines": lines,
        "large": len(large),
        "total": round(total),
        "tagged": tagged,
        "skus": ",".join([i["sku"] for i in items]),
        "oil": any(i["name"] == "Oil" for i in items),
    }
