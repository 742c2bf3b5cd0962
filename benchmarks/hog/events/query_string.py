"""``query_string.hog`` in hand-written Python."""

from urllib.parse import quote


def main(given):
    event = given["event"]
    p = event["properties"]
    values = {
        "uid": event["distinct_id"],
        "ev": event["event"],
        "rev": str(p["amount"]),
        "cur": p["currency"],
        "oid": str(p["order_id"]),
        "cp": p["coupon"],
        "ua": p["$raw_user_agent"][:24],
        "dl": p["$current_url"],
    }
    pairs = []
    for key in sorted(values):
        value = values[key]
        if value is not None and len(value) <= 100:
            pairs.append(f"{key}={quote(value, safe='()')}")
    return "https://t.example.com/p?" + "&".join(pairs)
