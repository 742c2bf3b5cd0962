"""``validate.hog`` in hand-written Python."""

KINDS = {int: "integer", str: "string", float: "float", bool: "boolean", list: "array"}


def main(given):
    problems, p = [], given["event"]["properties"]

    def need(name, kind):
        value = p.get(name)
        if value is None:
            problems.append(f"{name} is missing")
            return False
        if KINDS[type(value)] != kind:
            problems.append(f"{name} should be {kind}, is {KINDS[type(value)]}")
            return False
        return True

    need("order_id", "integer")
    need("currency", "string")
    need("coupon", "string")
    if need("amount", "float") and (p["amount"] < 0 or p["amount"] > 10000):
        problems.append("amount is out of range")
    if need("email", "string") and ("@" not in p["email"] or "." not in p["email"]):
        problems.append("email is not an address")
    if need("gift", "string") or need("items", "array"):
        ids = [item["sku"] for item in p["items"]]
        if not ids:
            problems.append("no items")
    if len(problems) > 2:
        return {"valid": False, "message": f"{len(problems)} problems", "problems": problems}
    return {"valid": True}
