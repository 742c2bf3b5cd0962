def mask_email(text):
    if not text:
        return text
    parts = text.split("@")
    if len(parts) != 2:
        return "***"
    return f"{parts[0][:1]}***@{parts[1]}"


def main(g):
    event = g["event"]
    p = dict(event["properties"])
    p["email"] = mask_email(p.get("email"))
    p["phone"] = "hidden"
    card = p.get("card_number")
    if card is not None:
        p["card_number"] = "**** " + card[15:19]
    return {**event, "properties": p}
