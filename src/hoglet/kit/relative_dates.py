"""Resolves dates in filters: ``-7d``, ``mStart``, ``2026-01-05``, ISO 8601 times.

Arithmetic uses the wall clock of the project's zone: ``-3h`` across a clock change is the wall time
three hours earlier. A wall time in a gap uses the offset before the gap. If a wall time occurs
twice, the first one is used, except at the end of a day, so that the day is complete.

Source: docs/spec/data-and-queries.md#78-dates
"""

import calendar
import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

type Form = Literal["time", "day", "days", "hours", "minutes", "start", "end"]

_RELATIVE = re.compile(r"(?P<sign>[-+]?)(?P<count>[0-9]*)(?P<unit>[shdwmqyM])(?P<edge>Start|End)?")
_ABSOLUTE = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?:[Tt ](?P<hour>\d{1,2})"
    r"(?::(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?)?"
    r" ?(?:(?P<utc>[Zz])|(?P<offset>[-+]\d{2}(?::?[0-5]\d)?))?)?",
    re.ASCII,
)
_CLOCK = {"s": "seconds", "M": "minutes", "h": "hours"}
_FORMS: dict[str, Form] = {"s": "minutes", "M": "minutes", "h": "hours"}
_DAYS = {"d": 1, "w": 7}
_MONTHS = {"m": 1, "q": 3, "y": 12}
_TICK = timedelta(microseconds=1)
_EARLIEST, _LATEST = datetime(1900, 1, 2), datetime(2299, 12, 30)  # noqa: DTZ001 (wall times)
"""Range of timestamps that the warehouse can store; others are clamped, which compares the same."""
_MOST = 10_000_000
"""Largest count; larger ones are outside the calendar in every unit."""


class NotADate(ValueError):
    """The text is neither an absolute nor a relative date; the message says what to write.

    ``key`` is ``date_from`` or ``date_to`` if a range was parsed.
    """

    key: str = ""


class DateClock(NamedTuple):
    """The reference for relative dates: current time, time zone and first day of the week.

    ``now`` is aware, ``zone`` an IANA name, ``week_start_day`` 0 for Sunday or 1 for Monday.
    """

    now: datetime
    zone: str = "UTC"
    week_start_day: int = 0

    def local(self) -> datetime:
        """The current time in the project's time zone."""
        return self.now.astimezone(ZoneInfo(self.zone))


class ResolvedDate(NamedTuple):
    """A timestamp in the project's time zone, and how it was written.

    ``form`` is ``time`` or ``day`` for absolute text with and without a time of day; ``days``,
    ``hours`` or ``minutes`` for relative text by its unit; ``start`` or ``end`` for ``mStart``-like
    text.
    """

    at: datetime
    form: Form

    @property
    def is_relative(self) -> bool:
        """Whether the text is relative to the current time."""
        return self.form not in {"time", "day"}

    @property
    def is_edge(self) -> bool:
        """Whether the text ends in ``Start`` or ``End``; such dates are never rounded."""
        return self.form in {"start", "end"}


class Bounds(NamedTuple):
    """A time range; None means unbounded. ``start`` is inclusive, ``end`` as the flag says."""

    start: datetime | None
    end: datetime | None
    includes_end: bool = True


def resolve_date(text: str, clock: DateClock) -> ResolvedDate:
    """The timestamp that a text stands for, not rounded.

    Args:
        text: ``-7d``, ``+2w``, ``mStart``, ``-1qEnd``, ``2026-1-5``, ``2026-01-05T10:00+02:00``;
            no sign means the past, no count means 0.
        clock: current time, time zone and first day of the week.

    Raises:
        NotADate: anything else, including ``all``.

    Example:
        >>> clock = DateClock(datetime(2026, 1, 14, 15, 30, tzinfo=UTC))
        >>> str(resolve_date("-1mStart", clock).at)
        '2025-12-01 00:00:00+00:00'
    """
    if match := _RELATIVE.fullmatch(text):
        return _relative(match, clock)
    if match := _ABSOLUTE.fullmatch(text):
        return _absolute(match, ZoneInfo(clock.zone))
    raise _not_a_date(text)


def range_bounds(
    date_from: str | None, date_to: str | None, clock: DateClock, *, explicit: bool = False
) -> Bounds:
    """The range of ``{filters}``: whole days, unless a time of day or ``explicit`` is given.

    Args:
        date_from: the start; None, empty and ``all`` mean unbounded.
        date_to: the end; a range of days without one ends with today.
        clock: the reference for relative dates.
        explicit: whether both are exact timestamps.

    Raises:
        NotADate: one of the two is not a date.
    """
    start = _edge_of_range("date_from", None if date_from == "all" else date_from, clock)
    begins = None if start is None else _range_start(start, explicit=explicit)
    end = _edge_of_range("date_to", date_to, clock)
    if end is None:
        if start is None or start.form in {"hours", "minutes"}:
            return Bounds(begins, None)
        return Bounds(begins, end_of_day(clock.local()))
    if not explicit and end.form in {"day", "days"}:
        return Bounds(begins, end_of_day(end.at))
    return Bounds(begins, end.at, includes_end=end.form == "end")


def _edge_of_range(key: str, text: str | None, clock: DateClock) -> ResolvedDate | None:
    if not text:
        return None
    try:
        return resolve_date(text, clock)
    except NotADate as error:
        error.key = key
        raise


def _range_start(start: ResolvedDate, *, explicit: bool) -> datetime:
    return start.at if explicit or start.form != "days" else start_of_day(start.at)


# --- arithmetic


def shift(moment: datetime, count: int, unit: str) -> datetime:
    """Move ``moment`` by ``count`` units on the wall clock; months clip to their last day."""
    if not count:
        return moment
    count = max(-_MOST, min(count, _MOST))
    wall = moment.replace(tzinfo=None, fold=0)
    try:
        if unit in _MONTHS:
            moved = _shift_months(wall, count * _MONTHS[unit])
        elif unit in _CLOCK:
            moved = wall + timedelta(**{_CLOCK[unit]: count})
        else:
            moved = wall + timedelta(days=count * _DAYS[unit])
    except (OverflowError, ValueError):
        moved = _EARLIEST if count < 0 else _LATEST
    return _placed(moved, moment.tzinfo)


def elapse(moment: datetime, span: timedelta) -> datetime:
    """``moment`` plus elapsed time, regardless of clock changes."""
    return (moment.astimezone(UTC) + span).astimezone(moment.tzinfo)


def start_of(moment: datetime, unit: str, week_start_day: int = 0) -> datetime:
    """The start of the second, minute, hour, day, week, month, quarter or year of ``moment``."""
    if unit in _CLOCK:  # within the hour, so that the second of two repeated hours is kept
        minute = 0 if unit == "h" else moment.minute
        second = moment.second if unit == "s" else 0
        return moment.replace(minute=minute, second=second, microsecond=0)
    day = moment.date()
    if unit == "w":
        day -= timedelta(days=(day.weekday() + 1 - week_start_day) % 7)
    elif unit == "m":
        day = day.replace(day=1)
    elif unit == "q":
        day = day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
    elif unit == "y":
        day = day.replace(month=1, day=1)
    return _placed(datetime.combine(day, time()), moment.tzinfo)


def end_of(moment: datetime, unit: str, week_start_day: int = 0) -> datetime:
    """The last microsecond of the second, minute, hour, day … of ``moment``."""
    if unit in _CLOCK:
        return elapse(start_of(moment, unit), timedelta(**{_CLOCK[unit]: 1}) - _TICK)
    following = start_of_day(shift(start_of(moment, unit, week_start_day), 1, unit))
    return max(elapse(following, -_TICK), moment)  # not before if shift clamps


def start_of_day(moment: datetime) -> datetime:
    """The first moment of the day of ``moment``."""
    return start_of(moment, "d")


def end_of_day(moment: datetime) -> datetime:
    """The last microsecond of the day of ``moment``."""
    return end_of(moment, "d")


def _placed(wall: datetime, zone: tzinfo | None) -> datetime:
    """Attach the zone to a wall time; a time in a gap uses the offset before the gap."""
    wall = max(_EARLIEST, min(wall, _LATEST))
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC).astimezone(zone)


def _shift_months(wall: datetime, months: int) -> datetime:
    year, month = divmod(wall.year * 12 + wall.month - 1 + months, 12)
    if not _EARLIEST.year <= year <= _LATEST.year:
        raise OverflowError
    day = min(wall.day, calendar.monthrange(year, month + 1)[1])
    return wall.replace(year=year, month=month + 1, day=day)


# --- parsing


def _relative(match: re.Match[str], clock: DateClock) -> ResolvedDate:
    count = int(match["count"][:9] or 0)  # longer counts are outside the calendar anyway
    unit, edge = match["unit"], match["edge"]
    moment = shift(clock.local(), count if match["sign"] == "+" else -count, unit)
    if edge == "Start":
        return ResolvedDate(start_of(moment, unit, clock.week_start_day), "start")
    if edge == "End":
        return ResolvedDate(end_of(moment, unit, clock.week_start_day), "end")
    return ResolvedDate(moment, _FORMS.get(unit, "days"))


def _absolute(match: re.Match[str], zone: ZoneInfo) -> ResolvedDate:
    try:
        day = date(int(match["year"]), int(match["month"]), int(match["day"]))
        part = int((match["part"] or "0").ljust(6, "0")[:6])
        clock = (int(match["hour"] or 0), int(match["minute"] or 0), int(match["second"] or 0))
        wall = datetime.combine(day, time(*clock, part))
        offset = UTC if match["utc"] else _offset(match["offset"])
    except ValueError:
        raise _not_a_date(match[0]) from None
    form: Form = "day" if match["hour"] is None else "time"
    moment = _placed(wall, offset or zone)
    return ResolvedDate(moment.astimezone(zone), form)


def _offset(text: str | None) -> timezone | None:
    if text is None:
        return None
    hours, minutes = int(text[1:3]), int(text[3:].lstrip(":") or 0)
    span = timedelta(hours=hours, minutes=minutes)
    return timezone(-span if text[0] == "-" else span)


def _not_a_date(text: str) -> NotADate:
    visible = text if len(text) <= 40 else text[:40] + "…"
    meant = re.sub("(start|end)$", lambda edge: edge[0].capitalize(), text.strip().lower())
    if meant != text and _RELATIVE.fullmatch(meant):
        return NotADate(f"'{visible}' is not a date. Did you mean '{meant}'?")
    return NotADate(
        f"'{visible}' is not a date: use -7d, mStart, 2026-01-05 or 2026-01-05T10:00:00Z"
    )


def as_text(moment: datetime) -> str:
    """A timestamp as local text with microseconds.

    It includes the UTC offset if the wall time occurs twice, when clocks are set back.
    """
    text = moment.strftime("%Y-%m-%d %H:%M:%S.%f")
    again = moment.replace(fold=1 - moment.fold)
    if moment.utcoffset() == again.utcoffset():
        return text
    return text + moment.isoformat()[-6:]
