"""``conditional_body.hog`` in hand-written Python."""


def main(given):
    event, known = given["event"], given["person"]["properties"]
    p, properties = event["properties"], {}
    body = {
        "distinct_id": event["distinct_id"],
        "event": event["event"],
        "properties": properties,
    }
    if p.get("$current_url") is not None:
        properties["url"] = p["$current_url"]
    referrer = p.get("$referrer")
    if referrer is not None and referrer != "$direct":
        properties["referrer"] = referrer
    if p.get("coupon"):
        properties["coupon"] = p["coupon"].upper()
    properties["tier"] = "gold" if p["amount"] > 100 else "basic"
    if p.get("gift") is True:
        properties["gift"] = 1
    if known.get("email"):
        body["email"] = known["email"].lower()
    if known["ltv"] >= 1000 and known["orders"] > 10:
        body["segment"] = "whale"
    address = (p.get("shipping") or {}).get("address") or {}
    properties["city"] = address.get("city") or p.get("$geoip_city_name") or "unknown"
    company = given["groups"].get("company") or {}
    properties["company"] = company.get("properties", {}).get("name") or "none"
    return body
