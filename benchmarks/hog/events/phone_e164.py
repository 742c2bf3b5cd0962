"""``phone_e164.hog`` in hand-written Python."""

import re

CODES = {"GB": "44", "DE": "49", "US": "1"}
VALID = re.compile(r"^\+[0-9]{8,15}$")


def digits(text):
    return "".join([c for c in text if "0" <= c <= "9"])


def e164(phone, country):
    number = digits(phone)
    if phone.startswith("+"):
        return f"+{number}"
    if number.startswith("00"):
        return f"+{number[2:]}"
    return f"+{CODES.get(country, '1')}{number[1:]}"


def main(given):
    p, lines = given["person"]["properties"], []
    result = e164(p["phone"], p["country"])
    lines.append(f"{result} {'true' if VALID.search(result) else 'false'}")
    return result
