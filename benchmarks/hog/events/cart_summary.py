"""``cart_summary.hog`` in hand-written Python."""

from benchmarks.hog.printing import printed


def money(amount):
    return round(amount * 100) / 100


def line_total(item):
    return item["price"] * item["quantity"]


def main(given):
    p, texts, subtotal, lines = given["event"]["properties"], [], 0, []
    for number, item in enumerate(p["items"], 1):
        subtotal += line_total(item)
        price = money(line_total(item))
        texts.append(f"{number}. {item['name']} x{item['quantity']}: {price:g}")
    tax, shipping = money(subtotal * 0.2), p["shipping"]["cost"] or 0
    cart = {
        "lines": texts,
        "subtotal": money(subtotal),
        "tax": tax,
        "shipping": shipping,
        "total": money(subtotal + tax + shipping),
    }
    lines.append(printed(cart))
    return cart
