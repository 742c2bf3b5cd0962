"""Texts as timestamps where clocks skip the time that they name.

The engine takes the offset after the change: ``'2026-09-06'`` in Santiago, where clocks go from
23:59 to 01:00, is 23:00 of the day before, and a birthday on such a day is one day early. Here such
a time is the one that clocks show instead, 01:00.

Source: docs/spec/data-and-queries.md#78-dates.
"""

import re
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import msgspec

from hoglet.hogql.plan import Expr, TrustedSQL, Value
from hoglet.hogql.types import DATETIME

_WALL_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?")
_FROM, _UNTIL = date(1950, 1, 1), date(2100, 1, 1)
"""Days of birthdays and plans; more zones changed at midnight before, to other times of war."""
_WEEK = timedelta(days=7)


def existing(value: Expr, timezone: str) -> Expr:
    """A constant wall time that clocks skip, as the one that they show instead: 02:30 as 03:30.

    Other expressions are unchanged.
    """
    if not isinstance(value, Value) or not isinstance(value.value, str):
        return value
    if not _WALL_TIME.fullmatch(value.value):
        return value
    try:
        wall = datetime.fromisoformat(value.value)
        clock_time = _clock_time(wall, ZoneInfo(timezone))
    except (ValueError, OverflowError):  # 2026-02-30, 0001-01-01 in zones east of Greenwich
        return value
    if clock_time == wall:
        return value
    return msgspec.structs.replace(value, value=clock_time.isoformat(" "))


def time_of_text(text: Expr, timezone: str) -> TrustedSQL:
    """A text as a timestamp, NULL if it is none.

    The correction of texts of rows costs 80 ms of processor time per million, as much as parsing
    them, so it is left out in zones whose clocks never went forward.
    """
    text = existing(text, timezone)
    parsed = _parsed(text, timezone)
    if isinstance(text, Value) or timezone == "UTC" or not skips_times(timezone):
        return parsed
    in_utc = _parsed(text, "UTC")  # the same moment, if the text has an offset
    skipped = ("dateDiff('second', ", parsed, ", ", in_utc, ") - timezoneOffset(", parsed, ")")
    corrected = (parsed, " + toIntervalSecond(", *skipped, ")")
    parts = ("if(", parsed, " = ", in_utc, ", ", parsed, ", ", *corrected, ")")
    return TrustedSQL(parts=parts, type=parsed.type)


@cache
def skips_times(timezone: str) -> bool:
    """Whether clocks of a time zone went forward, or will; no change is undone within a week.

    Example:
        >>> skips_times("Europe/Berlin"), skips_times("Asia/Kolkata")
        (True, False)
    """
    zone, day = ZoneInfo(timezone), datetime.combine(_FROM, time())
    while day.date() < _UNTIL:
        following = day + _WEEK
        if _offset(day, zone) < _offset(following, zone):
            return True
        day = following
    return False


def _offset(wall: datetime, zone: ZoneInfo) -> timedelta:
    return wall.replace(tzinfo=zone).utcoffset() or timedelta()


def _clock_time(wall: datetime, zone: ZoneInfo) -> datetime:
    return wall.replace(tzinfo=zone).astimezone(UTC).astimezone(zone).replace(tzinfo=None)


def _parsed(text: Expr, timezone: str) -> TrustedSQL:
    parts = ("parseDateTime64BestEffortOrNull(", text, f", 6, '{timezone}')")
    return TrustedSQL(parts=parts, type=DATETIME.or_null())
