"""``email_domain.hog`` in hand-written Python."""

import json

FREE = ["gmail.com", "yahoo.com", "hotmail.com", "outlook.com", "icloud.com"]


def domain_of(email):
    parts = email.strip().lower().split("@")
    return parts[1] if len(parts) == 2 else None


def is_business(domain):
    return domain is not None and domain not in FREE


def main(given):
    email = given["person"]["properties"].get("email")
    if email is None:
        email = given["event"]["properties"].get("email") or ""
    domain, lines = domain_of(email), []
    result = {
        "domain": domain,
        "business": is_business(domain),
        "company": domain.split(".")[0] if is_business(domain) else None,
    }
    lines.append(json.dumps(result, separators=(",", ":"), ensure_ascii=False))
    return result
