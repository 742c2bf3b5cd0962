"""``profile_changes.hog`` in hand-written Python."""

import json

WATCHED = ["email", "phone", "plan", "currency", "title", "country"]


def main(given):
    person, p = given["person"]["properties"], given["event"]["properties"]
    lines, changes, count = [], {}, 0
    for name in WATCHED:
        old, new = person.get(name), p.get(name)
        if new is not None and old != new:
            changes[name] = {"from": old, "to": new}
            count += 1
            lines.append(f"{name}: {'null' if old is None else old} -> {new}")
    if count == 0:
        return None
    lines.append(json.dumps(changes, separators=(",", ":")))
    return {"distinct_id": given["event"]["distinct_id"], "changes": changes, "count": count}
