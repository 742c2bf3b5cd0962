"""``session_window.hog`` in hand-written Python."""


def main(given):
    p = given["event"]["properties"]
    score = minutes = 0
    width = p.get("$viewport_width") or 0
    height = p.get("$viewport_height") or 0
    while minutes < 10:
        weight = 2 if minutes < 5 else 1
        score += weight * (3 if width > 1000 else 1)
        if score > 40:
            minutes = 100
        else:
            minutes += 1
    size = "small"
    if width * height > 1000000:
        size = "large"
    elif width * height > 300000:
        size = "medium"
    attempts, delay = 0, 1
    while delay < 60 and attempts < 8:
        delay *= 2
        attempts += 1
    return {
        "score": score,
        "size": size,
        "delay": delay,
        "attempts": attempts,
        "session": p["$session_id"],
        "ratio": round(width / height * 100) / 100,
    }
