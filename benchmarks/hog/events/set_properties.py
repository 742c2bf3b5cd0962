import copy


def main(g):
    e = copy.deepcopy(g["event"])
    p = e["properties"]
    p["source"] = "shop"
    p["amount_cents"] = round(p["amount"] * 100)
    p["email"] = p["email"].lower()
    p["is_large"] = p["amount"] > 200
    p["$ip"] = None
    if not p.get("plan"):
        p["plan"] = "free"
    return e
