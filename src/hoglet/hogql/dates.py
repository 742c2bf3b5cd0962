"""Dates of filters: ISO texts and relative ones such as ``-7d``, ``mStart``, ``-1mEnd``.

Source: docs/spec/query-endpoints.md#52-variables and
docs/spec/query-endpoints.md#106-insight-queries-and-results,
docs/spec/hog-functions.md#52-property-filter-key-value-operator-type-group_type_index.
"""

import calendar
import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

_RELATIVE = re.compile(r"(?P<sign>[-+]?)(?P<count>\d*)(?P<unit>[shdwmqyM])(?P<edge>Start|End)?\Z")
_DAYS = {"d": 1, "w": 7}
_MONTHS = {"m": 1, "q": 3, "y": 12}
_CLOCK = {"s": "seconds", "M": "minutes", "h": "hours"}
_MOST = 100_000
"""A larger count leaves the calendar; it is cut there rather than refused."""


def resolve_date(
    text: str, now: datetime, timezone: str, *, end: bool = False, explicit: bool = False
) -> datetime | None:
    """The instant a filter's date means, in the project's zone; None when it means no bound.

    Args:
        text: ``-7d``, ``mStart``, ``all`` or an ISO date or time.
        now: the present, aware.
        timezone: of the project.
        end: whether it is the end of a range: a date without a time is then its last microsecond.
        explicit: whether dates are meant to the instant: no start or end of a day is taken.

    Raises:
        ValueError: the text is neither.

    Example:
        >>> from datetime import UTC
        >>> str(resolve_date("-7d", datetime(2026, 1, 9, 15, tzinfo=UTC), "UTC"))
        '2026-01-02 00:00:00+00:00'
    """
    text = text.strip()
    if text in {"", "all"}:
        return None
    local = now.astimezone(ZoneInfo(timezone))
    found = _RELATIVE.match(text)
    if found and (found["count"] or found["edge"]):
        return _relative(found, local, end=end, explicit=explicit)
    return _absolute(text, ZoneInfo(timezone), end=end and not explicit)


def _absolute(text: str, zone: ZoneInfo, *, end: bool) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    if end and len(text) <= len("2026-01-05"):
        return end_of_day(moment)
    return moment.astimezone(zone)


def _relative(found: re.Match[str], local: datetime, *, end: bool, explicit: bool) -> datetime:
    count = min(int(found["count"] or 0), _MOST)
    count = count if found["sign"] == "+" else -count
    unit, edge = found["unit"], found["edge"]
    moment = shift(local, count, unit)
    if edge:
        return _edge(moment, unit, edge)
    if explicit or unit in _CLOCK:
        return moment
    return end_of_day(moment) if end else start_of_day(moment)


def shift(moment: datetime, count: int, unit: str) -> datetime:
    """``moment`` moved by ``count`` units: ``s M h d w m q y`` (``M`` minutes, ``m`` months).

    Hours and shorter ones elapse, also over a change of the clocks; days and longer ones keep
    the time of day.
    """
    try:
        if unit in _MONTHS:
            return _shift_months(moment, count * _MONTHS[unit])
        if unit in _CLOCK:
            elapsed = moment.astimezone(UTC) + timedelta(**{_CLOCK[unit]: count})
            return elapsed.astimezone(moment.tzinfo)
        return moment + timedelta(days=count * _DAYS[unit])
    except (OverflowError, ValueError):
        year = 1970 if count < 0 else 2100
        return moment.replace(year=year, month=1, day=1)


def _shift_months(moment: datetime, months: int) -> datetime:
    total = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(total, 12)
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)


def _edge(moment: datetime, unit: str, edge: str) -> datetime:
    start = start_of(moment, unit)
    return start if edge == "Start" else shift(start, 1, unit) - timedelta(microseconds=1)


def start_of(moment: datetime, unit: str) -> datetime:
    """The start of the hour, day, week (Sunday), month, quarter or year around ``moment``."""
    if unit == "h":
        return moment.replace(minute=0, second=0, microsecond=0)
    if unit == "M":
        return moment.replace(second=0, microsecond=0)
    day = start_of_day(moment)
    if unit == "w":
        return day - timedelta(days=(day.weekday() + 1) % 7)
    if unit == "m":
        return day.replace(day=1)
    if unit == "q":
        return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
    return day.replace(month=1, day=1) if unit == "y" else day


def start_of_day(moment: datetime) -> datetime:
    """Midnight before ``moment``."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def end_of_day(moment: datetime) -> datetime:
    """The last microsecond of the day of ``moment``."""
    return start_of_day(moment) + timedelta(days=1) - timedelta(microseconds=1)


def as_text(moment: datetime) -> str:
    """How a resolved date is written into a tree: local time of its zone, microseconds.

    The offset is added where the clocks are set back and the same time comes twice.
    """
    text = moment.strftime("%Y-%m-%d %H:%M:%S.%f")
    again = moment.replace(fold=1 - moment.fold)
    if moment.utcoffset() == again.utcoffset():
        return text
    return text + moment.isoformat()[-6:]
