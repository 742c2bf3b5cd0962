"""``lead_score.hog`` in hand-written Python."""

from benchmarks.hog.printing import printed


def points(condition, number):
    return number if condition else 0


def main(given):
    p, lines = given["person"]["properties"], []
    score = points(p["plan"] in ("pro", "scale"), 30)
    score += points(p["ltv"] > 1000, 25)
    score += points(p["orders"] >= 10, 15)
    score += points(p["newsletter"], 5)
    score += points(p["email"].lower().endswith(".com"), 5)
    score += points(given["event"]["properties"]["$referring_domain"] == "www.google.com", 10)
    score += points(given["groups"]["company"]["properties"]["seats"] > 20, 20)
    grade = "A" if score >= 90 else "B" if score >= 60 else "C" if score >= 30 else "D"
    lead = {
        "id": given["person"]["id"],
        "email": p["email"],
        "score": score,
        "grade": grade,
        "owner": "sales" if grade == "A" else None,
    }
    lines.append("lead " + printed(lead))
    return lead
