import copy
import re

EMAIL = re.compile(r"^[^@ ]+@[^@ ]+\.[a-z]+$")


def mask(text):
    result = text
    for word in text.split(" "):
        if EMAIL.search(word):
            result = result.replace(word, "***@***")
    return result


def main(g):
    out = {}
    for key, value in g["event"]["properties"].items():
        if key in ("card_number", "phone", "$ip"):
            out[key] = "[redacted]"
        elif isinstance(value, str) and "@" in value:
            out[key] = mask(value)
        else:
            out[key] = copy.deepcopy(value)
    return {**g["event"], "properties": out}
