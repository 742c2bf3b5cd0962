def main(g):
    event, person = g["event"], g["person"]
    pp = person["properties"]
    p = dict(event["properties"])
    p["company"] = g["groups"]["company"]["properties"]["name"]
    p["is_vip"] = "vip" in pp["tags"]
    p["full_name"] = pp["first_name"] + " " + pp["last_name"]
    return {**event, "properties": p}
