"""``pii_hash.hog`` in hand-written Python."""

import copy
import hashlib


def main(given):
    event, salt = copy.deepcopy(given["event"]), given["inputs"]["salt"]
    properties = event["properties"]
    for key in ("email", "phone", "first_name", "last_name", "$ip"):
        value = properties.get(key)
        if value:
            properties[key] = hashlib.sha256((salt + str(value).lower()).encode()).hexdigest()
    return event
