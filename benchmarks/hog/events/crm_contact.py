"""``crm_contact.hog`` in hand-written Python."""

import json


def clean(value):
    return str(value).strip() if value else None


def put(contact, name, value):
    if value is not None:
        contact[name] = value
    return contact


def main(given):
    p, lines = given["person"]["properties"], []
    contact = {"externalId": given["event"]["distinct_id"]}
    put(contact, "email", clean(p["email"].lower()))
    put(contact, "firstName", clean(p.get("first_name")))
    put(contact, "lastName", clean(p.get("last_name")))
    put(contact, "phone", clean(p["phone"].replace(" ", "")))
    put(contact, "company", clean(given["groups"]["company"]["properties"].get("name")))
    put(contact, "city", clean(p["address"].get("city")))
    put(contact, "jobTitle", clean(p.get("job_title")))
    value = {"contact": contact, "updateIfExists": True}
    body = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    lines.append(body)
    return {"url": given["inputs"]["url"] + "/contacts", "method": "POST", "body": body}
