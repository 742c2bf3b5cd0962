import base64
import hashlib
import hmac


def main(g):
    q, e, salt = g["person"]["properties"], g["event"], g["inputs"]["salt"]
    user = {}
    for key in ("email", "phone", "first_name", "last_name", "country"):
        value = (q.get(key) or "").strip(" ").lower()
        if value:
            user[key] = hashlib.sha256(value.encode()).hexdigest()
    user["external_id"] = hashlib.sha256(f"{salt}:{e['distinct_id']}".encode()).hexdigest()
    user["signature"] = hmac.new(salt.encode(), e["uuid"].encode(), hashlib.sha256).hexdigest()
    user["token"] = base64.b64encode(
        f"{e['distinct_id']}:{e['properties']['order_id']}".encode()
    ).decode()
    user["short"] = hashlib.md5(e["uuid"].encode()).hexdigest()[:8]
    return user
