import json


def main(g):
    text = json.dumps(g["event"], separators=(",", ":"))
    back = json.loads(text)
    items = json.loads(json.dumps(back["properties"]["items"], separators=(",", ":")))
    cart = json.loads(g["event"]["properties"]["payload"])["cart"]["id"]
    order = json.loads(text)["properties"]["order_id"]
    return f"{len(text)} {back['uuid']} {items[1]['name']} {cart} {order}"
