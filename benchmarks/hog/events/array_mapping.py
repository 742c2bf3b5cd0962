"""``array_mapping.hog`` in hand-written Python."""


def main(given):
    given_items = given["event"]["properties"].get("items") or []
    items = [item for item in given_items if item["quantity"] > 0]
    contents = [
        {
            "id": item["sku"],
            "quantity": item["quantity"],
            "item_price": item["price"],
            "title": item["name"].lower(),
        }
        for item in items
    ]
    tags = []
    for item in items:
        for tag in item["tags"]:
            if tag not in tags:
                tags.append(tag)
    return {
        "content_ids": [content["id"] for content in contents],
        "contents": contents,
        "tags": sorted(tags),
        "num_items": len(items),
    }
