"""``headers_auth.hog`` in hand-written Python."""


def main(given):
    event, inputs = given["event"], given["inputs"]
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"{given['project']['name']}/1.0",
    }
    token = inputs.get("token") or inputs["salt"]
    if token:
        headers["Authorization"] = f"Bearer {token}"
    else:
        headers["X-Anonymous"] = "yes"
    for name, value in inputs["headers"].items():
        if name.strip(" ").lower() not in ("content-type", "authorization") and value:
            headers[name] = str(value)
    request = {
        "url": inputs["url"],
        "method": "POST",
        "headers": headers,
        "timeout": inputs.get("timeout") or 30,
    }
    if event["event"] not in ("$pageview", "$autocapture"):
        request["body"] = {
            "event": event["event"],
            "user": given["person"]["id"],
            "when": event["timestamp"],
            "amount": event["properties"]["amount"],
        }
    return request
