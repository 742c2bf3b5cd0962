"""``hubspot.hog`` in hand-written Python."""


def main(given):
    known, event = given["person"]["properties"], given["event"]
    properties = {
        "email": known["email"].lower(),
        "firstname": known.get("first_name"),
        "lastname": known.get("last_name"),
        "phone": known.get("phone"),
        "company": given["groups"]["company"]["properties"].get("name"),
        "website": event["properties"].get("website"),
    }
    for key, value in known.items():
        if not key.startswith("$") and key not in properties and not isinstance(value, dict):
            properties[key.lower()] = ";".join(value) if isinstance(value, list) else value
    sent = {key: value for key, value in properties.items() if value not in (None, "", [], {})}
    return {
        "url": "https://api.hubapi.com/crm/v3/objects/contacts",
        "body": {"properties": sent, "id": sent["email"]},
    }
