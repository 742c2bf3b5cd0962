import json


def main(write):
    rows = [
        {
            "id": i,
            "name": f"user {i}",
            "tags": ["a", "b", i],
            "score": i / 4,
            "nested": {"ok": True, "none": None},
        }
        for i in range(1, 201)
    ]
    for row in rows:
        if row["score"].is_integer():
            row["score"] = int(row["score"])
    text = json.dumps(rows, separators=(",", ":"))
    size = 0
    for round_ in range(10):
        back = json.loads(text)
        back[0]["id"] = round_
        size += len(json.dumps(back, separators=(",", ":")))
    write(str(size))
