def main(g):
    p = g["event"]["properties"]
    person_email = g["person"]["properties"].get("email")
    if p.get("amount") > 100 and p.get("currency") == "EUR" and not p.get("gift"):
        paid = f"{person_email} paid {p.get('amount')} {p.get('currency')}"
        return f"{paid} with {p.get('payment_method')} from {p.get('$geoip_city_name')}"
    return None
