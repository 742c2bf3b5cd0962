def main(g):
    p = g["event"]["properties"]
    text = f"Order {p['order_id']}\n"
    count = 0
    for key, value in p.items():
        if "$" not in key and value is not None and not isinstance(value, dict | list):
            text_value = ("true" if value else "false") if isinstance(value, bool) else value
            text += f"- {key}: {text_value}\n"
            count += 1
    for i in range(1, len(p["items"]) + 1):
        item = p["items"][i - 1]
        text = f"{text}{i}. {item['name']} x{item['quantity']}\n"
    return {"text": text, "count": count}
