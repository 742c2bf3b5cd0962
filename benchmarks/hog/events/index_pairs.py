RULES = [["Mac OS X", "desktop"], ["Windows", "desktop"], ["iOS", "mobile"], ["Android", "mobile"]]


def main(g):
    p = g["event"]["properties"]
    kind = "unknown"
    for rule in RULES:
        if rule[0] == p.get("$os"):
            kind = rule[1]
    return {"kind": kind, "first": p["items"][0]["tags"][0], "price": p["items"][1]["price"]}
