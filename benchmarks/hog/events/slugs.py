"""``slugs.hog`` in hand-written Python."""


def slug(text):
    low = text.strip(" ").lower()
    clean = low.replace(" ", "-").replace("&", "and").replace("'", "")
    return "-".join([part for part in clean.split("-") if part])


def code(text, size):
    parts = slug(text).split("-")
    return parts[0][:size].upper()


def main(given):
    return [
        {
            "position": index + 1,
            "slug": slug(item["name"]),
            "code": code(item["name"], 3),
            "path": f"/p/{slug(item['sku'])}",
        }
        for index, item in enumerate(given["event"]["properties"]["items"])
    ]
