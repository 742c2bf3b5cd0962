"""Hour, day and week intervals in a time zone: chart labels and the SQL that assigns rows to them.

Source: docs/spec/hog-functions.md#94-metrics.
"""

from datetime import UTC, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

type Interval = Literal["hour", "day", "week"]

LABEL_LIMIT = 10_000  # more than a year of hours

_SQL: dict[str, str] = {
    "hour": "formatDateTime(timestamp, '%Y-%m-%dT%H:00', {timezone:String})",
    "day": "toString(toDate(timestamp, {timezone:String}))",
    "week": "toString(toMonday(timestamp, {timezone:String}))",
}


def sql_label(interval: Interval) -> str:
    """An expression over ``timestamp`` and the parameter ``timezone`` that yields the label."""
    return _SQL[interval]


def labels_between(
    after: datetime, before: datetime, interval: Interval, timezone: str
) -> list[str]:
    """Labels from the start of the interval of ``after`` up to ``before``, at most 10,000.

    Example:
        >>> at = datetime(2026, 1, 7, 12, tzinfo=UTC)
        >>> labels_between(at, at + timedelta(days=7), "week", "UTC")
        ['2026-01-05', '2026-01-12']
    """
    zone = ZoneInfo(timezone)
    if interval == "hour":
        return _hours(after, before, zone)
    day = after.astimezone(zone).date()
    last = before.astimezone(zone).date()
    step = 7 if interval == "week" else 1
    if interval == "week":
        day -= timedelta(days=day.weekday())
    count = min((last - day).days // step + 1, LABEL_LIMIT)
    return [str(day + timedelta(days=step * index)) for index in range(count)]


def _hours(after: datetime, before: datetime, zone: ZoneInfo) -> list[str]:
    """Steps in UTC, so that a clock change neither skips nor repeats an instant.

    In half hours, because Lord Howe's clocks change by half an hour.
    """
    at = after.astimezone(UTC)
    labels: dict[str, None] = {}
    while at < before and len(labels) < LABEL_LIMIT:
        labels[_hour(at, zone)] = None
        at += timedelta(minutes=30)
    if after <= before and len(labels) < LABEL_LIMIT:
        labels[_hour(before, zone)] = None
    return list(labels)


def _hour(at: datetime, zone: ZoneInfo) -> str:
    return at.astimezone(zone).strftime("%Y-%m-%dT%H:00")
