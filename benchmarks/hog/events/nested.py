DEVICE = ("$os", "$os_version", "$browser", "$browser_version", "$device_type", "$lib")
COMMERCE = ("order_id", "amount", "currency", "coupon", "gift", "payment_method")
NAMES = {
    str: "string",
    int: "integer",
    float: "float",
    bool: "boolean",
    dict: "object",
    list: "array",
    type(None): "null",
}


def main(g):
    document = {"device": {}, "geo": {}, "commerce": {}, "other": {}}
    for key, value in g["event"]["properties"].items():
        if "$geoip_" in key:
            document["geo"][key.replace("$geoip_", "", 1)] = value
        elif key in DEVICE:
            document["device"][key[1:]] = value
        elif key in COMMERCE:
            document["commerce"][key] = value
        elif not key.startswith("$"):
            document["other"][key] = NAMES[type(value)]
    document["counts"] = {
        "device": len(document["device"]),
        "geo": len(document["geo"]),
        "other": len(document["other"]),
    }
    return document
