"""``slack_blocks.hog`` in hand-written Python."""

LABELS = {
    "amount": "Amount",
    "currency": "Currency",
    "coupon": "Coupon",
    "payment_method": "Paid by",
    "note": "Note",
}


def field(title, value):
    if value is None or value == "":
        return None
    return {"type": "mrkdwn", "text": f"*{title}*\n{value}"}


def main(given):
    event = given["event"]
    p = event["properties"]
    title = f"New order {p['order_id']}"
    blocks = [{"type": "header", "text": {"type": "plain_text", "text": title}}]
    fields = []
    for key, label in LABELS.items():
        entry = field(label, p.get(key))
        if entry is not None:
            fields.append(entry)
    if fields:
        blocks.append({"type": "section", "fields": fields})
    if p["amount"] > 250:
        blocks.append({"type": "divider"})
        text = {"type": "mrkdwn", "text": ":tada: a large order"}
        blocks.append({"type": "section", "text": text})
    context = [
        {"type": "mrkdwn", "text": f"{item['quantity']} x {item['name']}"}
        for item in p.get("items") or []
    ]
    if context:
        blocks.append({"type": "context", "elements": context})
    return {
        "channel": given["inputs"]["channel"],
        "blocks": blocks,
        "text": f"{given['person']['name']}: {event['event']}",
        "unfurl_links": False,
    }
