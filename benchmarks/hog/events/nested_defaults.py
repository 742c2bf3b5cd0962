"""``nested_defaults.hog`` in hand-written Python."""


def main(given):
    p, known = given["event"]["properties"], given["person"]["properties"]
    company = given["groups"].get("company", {}).get("properties", {})
    shipping = p.get("shipping") or {}
    address = shipping.get("address") or {}
    items, discounts = p.get("items") or [], p.get("discounts") or []
    return {
        "city": address.get("city") or p.get("$geoip_city_name") or "unknown",
        "country": (address.get("country") or p.get("$geoip_country_code") or "xx").upper(),
        "region": address.get("region") or p.get("$geoip_subdivision_1_name"),
        "method": shipping.get("method") or "standard",
        "gift_text": ((p.get("gift_options") or {}).get("message") or {}).get("text") or "",
        "price": ((p.get("totals") or {}).get("amount") or {}).get("value") or p["amount"] or 0,
        "plan": known.get("plan") or company.get("plan") or "free",
        "seats": company.get("seats") or 1,
        "first_item": items[0]["name"] if items else "nothing",
        "discount": discounts[0]["percent"] if discounts else 0,
    }
