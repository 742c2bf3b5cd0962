"""``hash_properties.hog`` in hand-written Python."""

import copy
from hashlib import sha256
from typing import Any


def main(given: dict[str, Any]) -> Any:
    event = given["event"]
    returned = copy.deepcopy(event)
    for raw in ["email", "phone", " $ip ", "missing"]:
        key = raw.strip(" ")
        value = event["properties"].get(key)
        if value:
            returned["properties"][key] = sha256(str(value).encode()).hexdigest()
    return returned
