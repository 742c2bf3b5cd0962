"""Dates of filters: absolute text stays, relative text (``-7d``, ``mStart``) becomes an instant.

Source: docs/spec/hog-functions.md#52-property-filter-key-value-operator-type-group_type_index
(resolved at compile time, in the project's timezone).
"""

import calendar
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

_RELATIVE = re.compile(r"-?(?P<count>\d{1,6})?(?P<unit>[hdwmqyHMs])(?P<edge>Start|End)?")
_FIXED = {
    "s": timedelta(seconds=1),
    "M": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "H": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_CLOCK: dict[str, dict[str, Any]] = {
    "s": {"microsecond": 0},
    "M": {"second": 0, "microsecond": 0},
    "h": {"minute": 0, "second": 0, "microsecond": 0},
    "H": {"minute": 0, "second": 0, "microsecond": 0},
    "d": {"hour": 0, "minute": 0, "second": 0, "microsecond": 0},
}
_MONTHS = {"m": 1, "q": 3, "y": 12}


def resolve_date(text: str, *, now: datetime, timezone: str) -> str:
    """The text to compare with.

    Args:
        text: ``2024-05-03``, an ISO instant, or relative: ``-7d``, ``-3h``, ``-1mStart``.
        now: aware instant that relative text counts back from.
        timezone: IANA name; edges are cut in it.

    Returns:
        ``text`` unchanged when it is absolute, else ``2024-05-03T00:00:00Z`` in UTC.

    Example:
        >>> resolve_date("-7d", now=datetime(2024, 5, 8, tzinfo=UTC), timezone="UTC")
        '2024-05-01T00:00:00Z'
    """
    match = _RELATIVE.fullmatch(text.strip())
    if match is None:
        return text
    local = now.astimezone(ZoneInfo(timezone))
    try:
        moved = _back(local, match["unit"], int(match["count"] or 0))
    except (OverflowError, ValueError):
        return text
    if match["edge"]:
        moved = _edge(moved, match["unit"], at_end=match["edge"] == "End")
    return moved.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _back(moment: datetime, unit: str, count: int) -> datetime:
    if unit in _FIXED:
        return moment - _FIXED[unit] * count
    return _add_months(moment, -_MONTHS[unit] * count)


def _add_months(moment: datetime, months: int) -> datetime:
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last))


def _edge(moment: datetime, unit: str, *, at_end: bool) -> datetime:
    start = _start(moment, unit)
    if not at_end:
        return start
    following = start + _FIXED[unit] if unit in _FIXED else _add_months(start, _MONTHS[unit])
    return following - timedelta(microseconds=1)


def _start(moment: datetime, unit: str) -> datetime:
    if unit in _CLOCK:
        return moment.replace(**_CLOCK[unit])
    day = moment.replace(**_CLOCK["d"])
    if unit == "w":
        return day - timedelta(days=day.weekday())
    first = day.replace(day=1)
    if unit == "q":
        return first.replace(month=(first.month - 1) // 3 * 3 + 1)
    return first if unit == "m" else first.replace(month=1)
