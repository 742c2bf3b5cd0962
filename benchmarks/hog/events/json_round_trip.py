import json


def main(g):
    data = json.loads(g["event"]["properties"]["payload"])
    data["cart"]["total"] += 10
    data["cart"]["lines"].append({"sku": "D-9", "n": 4})
    data["seen"] = True
    data["visits"] = [*data["visits"], len(data["visits"])]
    text = json.dumps(data, separators=(",", ":"))
    return {"size": len(text), "text": text, "again": json.loads(text)["cart"]["lines"][2]["sku"]}
