"""``merge_nested.hog`` in hand-written Python."""


def merge(left, right):
    out = dict(left)
    for key, value in right.items():
        if isinstance(value, dict) and isinstance(out.get(key), dict):
            out[key] = merge(out[key], value)
        elif value is not None:
            out[key] = value
    return out


def main(given):
    base = {
        "plan": "none",
        "address": {"city": "", "country": "XX", "floor": 2},
        "flags": {"beta": False, "tags": []},
    }
    over = {
        "address": {"zip": given["event"]["properties"]["shipping"]["address"]["zip"]},
        "flags": {"beta": True},
    }
    return merge(merge(base, given["person"]["properties"]), over)
