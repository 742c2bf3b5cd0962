"""``date_periods.hog`` in hand-written Python."""

from datetime import datetime, timedelta


def main(given):
    started = datetime.fromisoformat(given["person"]["properties"]["created_at"])
    at = datetime.fromisoformat(given["event"]["timestamp"])
    ends = started + timedelta(days=1000)
    used, left = (at - started).days, (ends - at).days
    phase = "running"
    if left < 0:
        phase = "over"
    elif left < 7:
        phase = "last week"
    elif used < 7:
        phase = "first week"
    return {
        "phase": phase,
        "used": used,
        "left": left,
        "percent": round(used * 100 / (used + left)),
        "started": started.strftime("%d %b %Y"),
        "ends": ends.strftime("%Y-%m-%d"),
        "hours_today": at.hour,
        "text": f"{left} days left, until {ends.strftime('%d.%m.%Y')}",
    }
