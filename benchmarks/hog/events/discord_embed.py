"""``discord_embed.hog`` in hand-written Python."""


def main(given):
    event = given["event"]
    p = event["properties"]
    fields = [
        {"name": name.replace("_", " "), "value": str(p[name]), "inline": True}
        for name in ("order_id", "amount", "currency", "coupon", "payment_method")
        if p.get(name) is not None
    ]
    embed = {
        "title": event["event"],
        "url": event["url"],
        "color": 3066993 if p["amount"] > 200 else 15158332,
        "fields": fields,
        "timestamp": event["timestamp"],
    }
    content = f"🛒 {p['title']} – {given['person']['properties']['first_name']}"
    return {"content": content, "embeds": [embed]}
