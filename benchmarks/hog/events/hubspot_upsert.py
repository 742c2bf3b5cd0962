"""``hubspot_upsert.hog`` in hand-written Python."""

STAGES = {
    "order placed": "closedwon",
    "cart updated": "presentationscheduled",
    "signed up": "appointmentscheduled",
}
MAPPING = {
    "firstname": "first_name",
    "lastname": "last_name",
    "phone": "phone",
    "country": "country",
    "company": "company",
}


def main(given):
    event, known = given["event"], given["person"]["properties"]
    p = event["properties"]
    email = (known.get("email") or p.get("email") or "").strip(" ").lower()
    if not email:
        return None
    stage = "customer" if (known.get("orders") or 0) > 0 else "lead"
    contact = {"email": email, "lifecyclestage": stage}
    for theirs, ours in MAPPING.items():
        value = known.get(ours)
        if value:
            contact[theirs] = str(value)
    inputs = [{"id": email, "idProperty": "email", "properties": contact}]
    requests = [{"path": "/crm/v3/objects/contacts/batch/upsert", "body": {"inputs": inputs}}]
    if p.get("amount", 0) > 0:
        properties = {
            "dealname": f"Order {p['order_id']}",
            "amount": str(p["amount"]),
            "dealstage": STAGES.get(event["event"], "qualifiedtobuy"),
        }
        requests.append({"path": "/crm/v3/objects/deals", "body": {"properties": properties}})
    return requests
