"""``phone_digits.hog`` in hand-written Python."""


def digits(text):
    return "".join([c for c in text if "0" <= c <= "9"])


def main(given):
    lines = []
    phone = digits(given["person"]["properties"]["phone"])
    other = digits(given["event"]["properties"]["phone"] or "")
    if not phone.startswith("44"):
        return None
    user = {"phone": "+" + phone, "country": "GB", "same": phone == other, "last": phone[-4:]}
    lines.append(f"{user['phone']} {'same' if user['same'] else 'differs'}")
    return user
