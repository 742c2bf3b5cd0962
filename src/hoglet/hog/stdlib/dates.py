"""Dates, timestamps and intervals."""

import math
from calendar import monthrange
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.dates import (
    EARLIEST,
    LATEST,
    date_of_days,
    from_datetime,
    instant,
    local_time,
    make_datetime,
    parse_instant,
    to_datetime,
    zone_name,
)
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.formatting import as_text
from hoglet.hog.runtime.numbers import settle, to_number, whole
from hoglet.hog.runtime.values import CONTAINERS, HogDate, HogDateTime, is_number
from hoglet.hog.stdlib.arguments import wrong

_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_TEMPORAL: Final = frozenset({HogDate, HogDateTime})
_SHORTEST: Final = 28  # days of the shortest month
_MAX_UNITS: Final = 10**12  # a larger number of any unit exceeds the calendar


def now(_zone: Any = None) -> HogDateTime:
    return HogDateTime(meter.current().now())


def today() -> HogDate | None:
    return date_of_days(math.floor(meter.current().now() / 86_400))


def to_date(value: Any) -> Any:
    if type(value) is HogDate:
        return value
    seconds = _seconds(value, "UTC")
    return None if seconds is None else date_of_days(math.floor(seconds / 86_400))


def to_date_time(value: Any, zone: Any = None) -> Any:
    if type(value) is HogDateTime:
        return value
    name = zone_name(zone)
    seconds = _seconds(value, name)
    return None if seconds is None else HogDateTime(seconds, name)


def _seconds(value: Any, zone: str) -> Any:
    if type(value) is str:
        return parse_instant(value, zone)
    if type(value) in _TEMPORAL:
        return instant(value)
    return _finite(value) if is_number(value) else None


def _finite(number: Any) -> Any:
    return whole(number) if math.isfinite(number) else None


def from_unix(value: Any) -> Any:
    seconds = _unix_number(value)
    return None if seconds is None else HogDateTime(seconds)


def from_unix_milli(value: Any) -> Any:
    milliseconds = _unix_number(value)
    return None if milliseconds is None else HogDateTime(whole(milliseconds / 1000))


def _unix_number(value: Any) -> Any:
    if value is None or isinstance(value, CONTAINERS):
        return None
    return _finite(to_number(value))


def to_unix(value: Any, zone: Any = None) -> Any:
    if value is None:
        return None
    return _seconds(value, zone_name(zone))


def to_unix_milli(value: Any, zone: Any = None) -> Any:
    seconds = to_unix(value, zone)
    return None if seconds is None else settle(math.floor(seconds * 1000 + 0.0005))


def to_time_zone(value: Any, zone: Any) -> Any:
    if value is None:
        return None
    if type(value) is not HogDateTime:
        raise EngineError("Expected a DateTime")
    return make_datetime(value.seconds, zone)


# --- calendar fields


def _moment(function: str, value: Any) -> datetime | None:
    """A Date or DateTime as an aware datetime in its own zone; None for null and invalid values."""
    if type(value) is HogDateTime:
        return local_time(value)
    if type(value) is HogDate:
        return to_datetime(instant(value))
    if value is None:
        return None
    if type(value) is str:
        seconds = parse_instant(value)
        return None if seconds is None else to_datetime(seconds)
    return wrong(function, "date", "a Date or DateTime", value)


def to_year(value: Any) -> Any:
    moment = _moment("toYear", value)
    return None if moment is None else moment.year


def to_month(value: Any) -> Any:
    moment = _moment("toMonth", value)
    return None if moment is None else moment.month


def to_year_month(value: Any) -> Any:
    moment = _moment("toYYYYMM", value)
    return None if moment is None else moment.year * 100 + moment.month


_PARTS: Final[dict[str, Any]] = {
    "year": lambda moment: moment.year,
    "month": lambda moment: moment.month,
    "day": lambda moment: moment.day,
    "hour": lambda moment: moment.hour,
    "minute": lambda moment: moment.minute,
    "second": lambda moment: moment.second,
}


def extract(part: Any, value: Any) -> Any:
    name = part.lower() if type(part) is str else ""
    if name not in _PARTS:
        raise EngineError(f"Unknown extract part: {as_text(part)}")
    moment = _moment("extract", value)
    return None if moment is None else _PARTS[name](moment)


# --- truncating


def _milliseconds(value: Any) -> int | None:
    """Milliseconds since 1970 of a DateTime in UTC; None for values that need the calendar."""
    if type(value) is not HogDateTime or value.zone != "UTC":
        return None
    if not EARLIEST <= value.seconds <= LATEST:
        return None
    return math.floor(value.seconds * 1000 + 0.0005)


def _floored(value: Any, unit: str) -> HogDateTime | None:
    """The beginning of a minute, an hour or a day, if it is known without the calendar."""
    milliseconds = _milliseconds(value)
    if milliseconds is None:
        return None
    seconds = milliseconds // 1000
    return HogDateTime(seconds - seconds % _SECONDS[unit])


def _at_midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _from_local(moment: datetime, value: Any) -> HogDateTime:
    zone = value.zone if type(value) is HogDateTime else "UTC"
    in_utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return HogDateTime(from_datetime(in_utc), zone)


def to_start_of_day(value: Any, _mode: Any = None) -> Any:
    floored = _floored(value, "day")
    if floored is not None:
        return floored
    moment = _moment("toStartOfDay", value)
    return None if moment is None else _from_local(_at_midnight(moment), value)


def to_start_of_week(value: Any, _mode: Any = None) -> Any:
    moment = _moment("toStartOfWeek", value)
    if moment is None:
        return None
    monday = _at_midnight(moment) - timedelta(days=moment.weekday())
    return _from_local(monday, value)


def to_start_of_hour(value: Any) -> Any:
    floored = _floored(value, "hour")
    if floored is not None:
        return floored
    moment = _moment("toStartOfHour", value)
    if moment is None:
        return None
    return _from_local(moment.replace(minute=0, second=0, microsecond=0), value)


def to_start_of_month(value: Any) -> Any:
    moment = _moment("toStartOfMonth", value)
    return None if moment is None else _from_local(_at_midnight(moment).replace(day=1), value)


_TRUNCATED: Final[dict[str, dict[str, int]]] = {
    "year": {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0, "microsecond": 0},
    "month": {"day": 1, "hour": 0, "minute": 0, "second": 0, "microsecond": 0},
    "day": {"hour": 0, "minute": 0, "second": 0, "microsecond": 0},
    "hour": {"minute": 0, "second": 0, "microsecond": 0},
    "minute": {"second": 0, "microsecond": 0},
}


def date_trunc(unit: Any, value: Any, _zone: Any = None) -> Any:
    if value is None:
        return None
    if type(value) is not HogDateTime:
        raise EngineError("Expected a DateTime for dateTrunc")
    if type(unit) is not str or unit not in _TRUNCATED:
        raise EngineError(f"Unsupported unit for dateTrunc: {as_text(unit)}")
    floored = _floored(value, unit) if unit in _SECONDS else None
    if floored is not None:
        return floored
    moment = local_time(value)
    if moment is None:
        return None
    return _from_local(moment.replace(**_TRUNCATED[unit]), value)  # pyright: ignore[reportArgumentType]


# --- adding and subtracting


def date_add(unit: Any, count: Any, value: Any) -> Any:
    if value is None:
        return None
    if type(count) is int and type(value) is HogDateTime and value.zone == "UTC":
        seconds = _SECONDS.get(unit, math.nan) if type(unit) is str else math.nan
        moved = value.seconds + count * seconds
        if type(moved) is int and EARLIEST <= moved <= LATEST:
            return HogDateTime(moved)
    name = unit if type(unit) is str else as_text(unit)
    if name not in _SECONDS and name not in {"month", "year"}:
        raise EngineError(f"Unsupported interval unit: {name}")
    if type(value) not in _TEMPORAL:
        wrong("dateAdd", "date", "a Date or DateTime", value)
    amount = to_number(count)
    if type(count) is bool or count == "" or not math.isfinite(amount):
        wrong("dateAdd", "count", "a finite number", count)
    if abs(amount) > _MAX_UNITS:
        return None
    if name in {"month", "year"}:
        return _add_months(value, amount * (12 if name == "year" else 1))
    if name in {"day", "week"}:
        return _add_days(value, amount * (7 if name == "week" else 1))
    return _add_seconds(value, amount * _SECONDS[name])


def _add_seconds(value: Any, seconds: Any) -> Any:
    """A number of seconds later; for a Date, the day of the resulting time."""
    if type(value) is HogDate:
        return date_of_days(math.floor((instant(value) + seconds) / 86_400))
    moved = value.seconds + seconds
    if type(seconds) is not int:
        moved = math.floor(moved * 1000 + 0.5) / 1000
    result = HogDateTime(whole(settle(moved)), value.zone)
    return None if local_time(result) is None else result


def _add_days(value: Any, days: Any) -> Any:
    """Whole calendar days later at the same time of day, then the fraction of a day in seconds."""
    full = math.trunc(days)
    moved = _add_calendar_days(value, full)
    return _add_part(moved, (days - full) * 86_400)


def _add_part(value: Any, seconds: Any) -> Any:
    return value if value is None or not seconds else _add_seconds(value, seconds)


def _add_calendar_days(value: Any, days: int) -> Any:
    if type(value) is HogDate or value.zone == "UTC":
        return _add_seconds(value, days * 86_400)
    moment = local_time(value)
    if moment is None:
        return None
    try:
        return _from_local(moment + timedelta(days=days), value)
    except OverflowError:
        return None


def _add_months(value: Any, months: Any) -> Any:
    """Whole calendar months later, then the fraction of a month as a fraction of 30 days."""
    full = math.trunc(months)
    return _add_part(_add_calendar_months(value, full), (months - full) * 30 * 86_400)


def _add_calendar_months(value: Any, months: int) -> Any:
    moment = _moment("dateAdd", value)
    if moment is None:
        return None
    month_number = moment.year * 12 + moment.month - 1 + months
    year, month = month_number // 12, month_number % 12 + 1
    if not 1 <= year <= 9999:
        return None
    day = moment.day if moment.day <= _SHORTEST else min(moment.day, monthrange(year, month)[1])
    if type(value) is HogDate:
        return HogDate(year, month, day)
    return _from_local(moment.replace(year=year, month=month, day=day), value)


def add_days(value: Any, count: Any) -> Any:
    return date_add("day", count, value)


def date_diff(unit: Any, start: Any, end: Any) -> Any:
    name = unit if type(unit) is str else as_text(unit)
    if name not in _SECONDS and name not in {"month", "year"}:
        raise EngineError(f"Unsupported unit for dateDiff: {name}")
    if name in _SECONDS:
        since, until = _milliseconds(start), _milliseconds(end)
        if since is not None and until is not None:
            return (until - since) // (_SECONDS[name] * 1000)
    first, second = _moment("dateDiff", start), _moment("dateDiff", end)
    if first is None or second is None:
        return None
    if name == "year":
        return second.year - first.year
    if name == "month":
        return (second.year - first.year) * 12 + second.month - first.month
    if first.tzinfo is not UTC or second.tzinfo is not UTC:
        first, second = first.astimezone(UTC), second.astimezone(UTC)
    return (second - first) // _SPANS[name]


_SPANS: Final = {name: timedelta(seconds=seconds) for name, seconds in _SECONDS.items()}


def _interval(value: Any, unit: str) -> dict[str, Any]:
    return {"__hogInterval__": True, "value": value, "unit": unit}


def interval_day(value: Any) -> dict[str, Any]:
    return _interval(value, "day")


def interval_hour(value: Any) -> dict[str, Any]:
    return _interval(value, "hour")


def interval_minute(value: Any) -> dict[str, Any]:
    return _interval(value, "minute")


def interval_month(value: Any) -> dict[str, Any]:
    return _interval(value, "month")
