"""``first_touch.hog`` in hand-written Python."""

PARAMETERS = ["source", "medium", "campaign", "term", "content"]
SEARCH = ("google", "google.com", "bing", "bing.com")


def main(given):
    event, first = given["event"], given["person"]["properties"]
    current, touch = event["properties"], {}
    for name in PARAMETERS:
        value = first.get(f"initial_utm_{name}") or current.get(f"utm_{name}")
        value = value or current.get(f"$initial_utm_{name}")
        if value:
            touch[f"utm_{name}"] = value.lower()
    if "utm_source" not in touch:
        site = first.get("$initial_referring_domain") or current.get("$referring_domain")
        site = site or "$direct"
        touch["utm_source"] = "direct" if site == "$direct" else site.replace("www.", "")
    if "utm_medium" not in touch:
        if touch["utm_source"] in SEARCH:
            touch["utm_medium"] = "organic"
        elif touch["utm_source"] == "direct":
            touch["utm_medium"] = "none"
        else:
            touch["utm_medium"] = "referral"
    return {
        "user": event["distinct_id"],
        "count": len(touch),
        "is_first": first.get("initial_utm_source") is None,
        **touch,
    }
