class Missing(Exception):
    def __init__(self, message, payload):
        super().__init__(message)
        self.message, self.payload = message, payload


class CurrencyError(Exception):
    pass


def need(values, key):
    value = values.get(key)
    if value in (None, "", [], {}):
        raise Missing(f"Missing {key}", {"key": key})
    return value


def check(key, value):
    if key == "currency" and value not in ("USD", "CHF"):
        raise CurrencyError(f"No {value}")


def main(g):
    problems = []
    for key in ("order_id", "vat_id", "email", "tax_number", "currency"):
        try:
            check(key, need(g["event"]["properties"], key))
        except CurrencyError as e:
            problems = [*problems, {"type": "CurrencyError", "message": str(e)}]
        except Missing as e:
            problems = [
                *problems,
                {"type": "missing", "message": e.message, "key": e.payload["key"]},
            ]
    return {"ok": len(problems) == 0, "problems": problems}
