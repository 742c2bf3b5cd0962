"""``order_report.hog`` in hand-written Python."""

from benchmarks.hog.printing import printed


def rounded(number):
    return round(number * 100) / 100


def main(given):
    p, lines, total = given["event"]["properties"], [], 0
    items = p["items"]
    for i, item in enumerate(items, 1):
        amount = item["price"] * item["quantity"]
        total += amount
        lines.append(
            f"{i}. {item['name']} ({item['sku']}): {item['quantity']} x {item['price']}"
            f" = {rounded(amount):g}"
        )
    summary = {
        "order": p["order_id"],
        "lines": len(items),
        "total": rounded(total),
        "average": rounded(total / len(items)),
    }
    lines.append(printed(summary))
    return summary
