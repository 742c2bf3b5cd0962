"""``distinct_values.hog`` in hand-written Python."""


def main(given):
    event, seen = given["event"], {}
    tags = list(given["person"]["properties"].get("tags") or [])
    for item in event["properties"].get("items") or []:
        tags += item.get("tags") or []
    for tag in tags:
        name = tag.strip(" ").lower()
        seen[name] = seen.get(name, 0) + 1
    return {
        "user": event["distinct_id"],
        "tags": sorted(seen),
        "counts": seen,
        "joined": ",".join(seen),
    }
