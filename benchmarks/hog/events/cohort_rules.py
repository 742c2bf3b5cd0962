"""``cohort_rules.hog`` in hand-written Python."""

RULES = [
    {"name": "vip", "key": "ltv", "op": "gt", "value": 1000},
    {"name": "repeat", "key": "orders", "op": "gt", "value": 3},
    {"name": "uk", "key": "country", "op": "eq", "value": "GB"},
    {"name": "free", "key": "plan", "op": "eq", "value": "free"},
    {"name": "google", "key": "initial_referrer", "op": "contains", "value": "google"},
]


def matches(rule, properties):
    actual = properties.get(rule["key"])
    if actual is None:
        return False
    if rule["op"] == "gt":
        return actual > rule["value"]
    if rule["op"] == "eq":
        return actual == rule["value"]
    if rule["op"] == "contains":
        return rule["value"] in actual.lower()
    return False


def main(given):
    properties, lines = given["person"]["properties"], []
    segments = [rule["name"] for rule in RULES if matches(rule, properties)]
    lines.append(", ".join(segments))
    return {"$set": {"segments": segments}}
