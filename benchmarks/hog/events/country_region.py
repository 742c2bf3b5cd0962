"""``country_region.hog`` in hand-written Python."""

REGIONS = {
    "emea": ["GB", "DE", "FR", "NL", "SE"],
    "amer": ["US", "CA", "BR"],
    "apac": ["AU", "JP", "IN"],
}
OWNERS = {
    "emea": {"name": "Edith", "team": "london"},
    "amer": {"name": "Alan", "team": "austin"},
    "apac": {"name": "Aki", "team": "sydney"},
}
DESK = {"name": "Desk", "team": "desk"}


def main(given):
    event, person = given["event"], given["person"]["properties"]
    p = event["properties"]
    country = p["shipping"]["address"].get("country") or p.get("$geoip_country_code") or "US"
    region = "other"
    for name, countries in REGIONS.items():
        if country in countries:
            region = name
    owner = OWNERS.get(region, DESK)
    return {
        "user": event["distinct_id"],
        "country": country,
        "region": region,
        "owner": owner["name"],
        "queue": f"{owner['team']}-{region.lower()}",
        "language": (person.get("language") or "en").split("-")[0],
        "is_local": country == person.get("country"),
    }
