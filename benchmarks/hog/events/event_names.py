"""``event_names.hog`` in hand-written Python."""

NAMES = {
    "order placed": "Order Completed",
    "$pageview": "Page Viewed",
    "signed up": "Account Created",
}
DROPPED = ["$feature_flag_called", "$web_vitals", "$autocapture"]


def main(given):
    event = given["event"]
    name, p = event["event"], event["properties"]
    if name in DROPPED or name.startswith("$$"):
        return None
    title = NAMES.get(name)
    if title is None:
        title = "Custom: " + name.replace("_", " ")
    version = p["$lib_version"].split(".")
    return {
        "type": "track",
        "event": title,
        "userId": event["distinct_id"],
        "messageId": event["uuid"],
        "timestamp": event["timestamp"],
        "context": {
            "source": "client" if p["$lib"] == "web" else "server",
            "ip": p["$ip"],
            "locale": given["person"]["properties"].get("language") or "en",
            "library": {
                "name": p["$lib"],
                "major": int(version[0]),
                "minor": int(version[1]),
            },
        },
    }
