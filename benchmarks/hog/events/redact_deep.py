"""``redact_deep.hog`` in hand-written Python."""


def is_address(word):
    name, at, domain = word.partition("@")
    return bool(at and name and "." in domain[1:-1])


def clean(value):
    if type(value) is str:
        if "@" not in value:
            return value
        words = ["[hidden]" if is_address(word) else word for word in value.split(" ")]
        return " ".join(words)
    if type(value) is list:
        return [clean(item) for item in value]
    if type(value) is dict:
        return {key: clean(item) for key, item in value.items()}
    return value


def main(given):
    return {
        "event": given["event"]["event"],
        "properties": clean(given["event"]["properties"]),
        "person": clean(given["person"]["properties"]),
    }
