"""``address_tags.hog`` in hand-written Python."""


def main(given):
    known = given["person"]["properties"]
    tags = [f"tag:{tag.lower()}" for tag in known["tags"]]
    if known["newsletter"]:
        tags.append("newsletter")
    if known.get("country"):
        tags.append(f"country:{known['country']}")
    domain = known["email"].lower().split("@")[1]
    if domain not in ("gmail.com", "outlook.com"):
        tags.append(f"domain:{domain}")
    address = known["address"]
    return {
        "email_address": known["email"].strip(" ").lower(),
        "status": "subscribed" if known["newsletter"] else "unsubscribed",
        "merge_fields": {
            "FNAME": known["first_name"],
            "ADDRESS": f"{address['street']}, {address['city']}",
        },
        "tags": sorted(tag for tag in tags if "beta" not in tag.lower()),
    }
