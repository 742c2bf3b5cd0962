def main(g):
    return clean(g["event"]["properties"])


def clean(value):
    if isinstance(value, dict):
        out = {}
        for key, item in value.items():
            if item is not None:
                out[key] = clean(item)
        return out
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, str) and len(value) > 100:
        return value[:97] + "..."
    return value
