"""``date_buckets.hog`` in hand-written Python."""

from datetime import datetime, timedelta


def main(given):
    at = datetime.fromisoformat(given["event"]["timestamp"])
    days = (at - datetime.fromisoformat(given["person"]["properties"]["created_at"])).days
    bucket = "old"
    if days < 1:
        bucket = "new"
    elif days < 30:
        bucket = "month"
    elif days < 365:
        bucket = "year"
    monday = (at - timedelta(days=at.weekday())).strftime("%Y-%m-%dT00:00:00.000Z")
    return {
        "bucket": bucket,
        "days": days,
        "part": "morning" if at.hour < 12 else "afternoon" if at.hour < 18 else "evening",
        "key": f"{at.year}-{at.month}",
        "week": monday,
    }
