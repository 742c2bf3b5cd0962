from datetime import UTC, datetime, timedelta


def main(g):
    e = g["event"]
    at = datetime.fromisoformat(e["timestamp"])
    signed = datetime.fromisoformat(e["properties"]["signed_up_at"]).replace(tzinfo=UTC)
    due = at + timedelta(days=14)
    start = at.replace(hour=0, minute=0, second=0, microsecond=0)
    return {
        "day": at.strftime("%Y-%m-%d"),
        "hour": at.strftime("%H:%M"),
        "due": due.strftime("%d.%m.%Y"),
        "age_days": (at - signed).days,
        "month": at.year * 100 + at.month,
        "year": at.year,
        "unix": at.timestamp(),
        "start": start.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "weekend": int(at.strftime("%u")) > 5,
        "late": at > datetime(2024, 5, 1, tzinfo=UTC),
    }
