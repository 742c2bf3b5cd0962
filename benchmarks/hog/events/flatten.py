"""``flatten.hog`` in hand-written Python."""

import json


def flatten(prefix, value, out):
    for key, item in value.items():
        name = f"{prefix}.{key}" if prefix else key
        if isinstance(item, dict):
            flatten(name, item, out)
        elif isinstance(item, list):
            out[name] = json.dumps(item, separators=(",", ":"))
        else:
            out[name] = item


def main(given):
    out = {}
    flatten("", given["person"]["properties"], out)
    flatten("shipping", given["event"]["properties"]["shipping"], out)
    return out
