"""``segment_track.hog`` in hand-written Python."""

SKIPPED = {"distinct_id", "items", "payload", "card_number"}


def main(given):
    event = given["event"]
    p, name = event["properties"], event["event"]
    call = {
        "type": "identify" if name == "$identify" else "page" if name == "$pageview" else "track",
        "messageId": event["uuid"],
        "userId": event["distinct_id"],
        "anonymousId": p.get("$device_id"),
        "timestamp": event["timestamp"],
        "context": {
            "ip": p.get("$ip"),
            "locale": given["person"]["properties"].get("language"),
            "userAgent": p.get("$raw_user_agent"),
            "page": {
                "url": p.get("$current_url"),
                "path": p.get("$pathname"),
                "referrer": p.get("$referrer"),
            },
            "os": {"name": p.get("$os"), "version": p.get("$os_version")},
            "screen": {"width": p.get("$screen_width"), "height": p.get("$screen_height")},
        },
        "properties": {
            key: value
            for key, value in p.items()
            if not key.startswith("$") and value is not None and key not in SKIPPED
        },
    }
    if call["type"] == "track":
        call["event"] = name
    return call
