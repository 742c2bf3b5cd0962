"""Dates and timestamps: parsing, calendar fields, ISO text.

Source: docs/spec/hog-language.md#4-values, docs/spec/hog-language.md#8-printing and
docs/spec/hog-language.md#9-standard-library (date text).
"""

import math
import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.values import HogDate, HogDateTime, type_name

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
EARLIEST: Final = -62_135_424_000
LATEST: Final = 253_402_128_000
"""Seconds since 1970 between which a time is in the years 1 to 9999 in every zone."""

_TEXT: Final = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})"
    r"(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?"
    r"([Zz]|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?\Z",
    re.ASCII,
)


@lru_cache(maxsize=1024)
def zone_info(name: str) -> ZoneInfo:
    """The time zone with that name.

    Raises:
        EngineError: it does not exist.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise EngineError(f"Unknown time zone: {name}") from None


def make_datetime(seconds: float, zone: Any = None) -> HogDateTime:
    """An instant, truncated to milliseconds; ``zone`` is validated, null and ``''`` are UTC."""
    return HogDateTime(seconds, zone_name(zone))


def zone_name(zone: Any) -> str:
    """The checked name of a zone; UTC for null and ``''``.

    Raises:
        EngineError: it does not exist, or the value is not a string.
    """
    if zone is None or zone == "":
        return "UTC"
    if type(zone) is not str:
        raise EngineError(f"A time zone must be a string, not {type_name(zone)}")
    zone_info(zone)
    return zone


def local_time(value: HogDateTime) -> datetime | None:
    """The instant as an aware datetime in its own zone; None outside the years 1 to 9999."""
    return to_datetime(value.seconds, value.zone)


@lru_cache(maxsize=1024)
def to_datetime(seconds: float, zone: str = "UTC") -> datetime | None:
    """Seconds since 1970 as an aware datetime, to the millisecond."""
    if not math.isfinite(seconds):
        return None
    try:
        full, part = divmod(math.floor(seconds * 1000 + 0.0005), 1000)
        moment = _EPOCH + timedelta(0, full, part * 1000)
        return moment if zone == "UTC" else moment.astimezone(zone_info(zone))
    except OverflowError:
        return None


def from_datetime(moment: datetime) -> float:
    """Seconds since 1970, with a fraction of milliseconds."""
    span = moment - _EPOCH
    milliseconds = (span.days * 86_400 + span.seconds) * 1000 + span.microseconds // 1000
    return milliseconds / 1000 if milliseconds % 1000 else milliseconds // 1000


def instant(value: HogDate | HogDateTime) -> float:
    """Seconds since 1970; a Date is its midnight in UTC."""
    return days_of(value) * 86_400 if isinstance(value, HogDate) else value.seconds


def days_of(value: HogDate) -> int:
    """Days since 1970-01-01."""
    try:
        return date(value.year, value.month, value.day).toordinal() - _EPOCH_DAY
    except ValueError:
        return 0


def date_of_days(days: int) -> HogDate | None:
    """The date a number of days after 1970-01-01; None outside the years 1 to 9999."""
    try:
        day = date.fromordinal(days + _EPOCH_DAY)
    except (ValueError, OverflowError):
        return None
    return HogDate(day.year, day.month, day.day)


def date_text(value: HogDate) -> str:
    """``2024-05-03``."""
    return f"{value.year:04d}-{value.month:02d}-{value.day:02d}"


def datetime_text(value: HogDateTime) -> str:
    """``2024-05-03T12:34:56.000Z``, in other zones ``...+02:00``."""
    moment = local_time(value)
    if moment is None:
        return "Invalid DateTime"
    text = (_ISO % _FIELDS(moment))[:_ISO_LENGTH]
    return text + ("Z" if value.zone == "UTC" else _offset_text(moment, value.zone))


_ISO: Final = "%04d-%02d-%02dT%02d:%02d:%02d.%06d"
_FIELDS: Final = attrgetter("year", "month", "day", "hour", "minute", "second", "microsecond")
_ISO_LENGTH: Final = len("2024-05-03T12:34:56.000")


def _offset_text(moment: datetime, zone: str) -> str:
    offset = moment.utcoffset() or timedelta()
    minutes = int(offset.total_seconds()) // 60
    if minutes == 0 and zone in {"UTC", "Etc/UTC", "GMT", "Etc/GMT"}:
        return "Z"
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def parse_instant(text: str, zone: str = "UTC") -> float | None:
    """Seconds since 1970 of a date text; None for any other text.

    Args:
        text: e.g. ``2024-05-03``, ``2024-05-03 12:34:56.789+02:00``, with whitespace around it.
        zone: the zone of a text without an offset.
    """
    text = text.strip()
    return _instant_of(text, zone) if len(text) <= _LONGEST else None


_LONGEST: Final = 64  # maximum length of a date in any spelling


@lru_cache(maxsize=1024)
def _instant_of(text: str, zone: str) -> float | None:
    match = _TEXT.match(text)
    if match is None:
        return None
    offset = match[8] or ""
    if match[4] == "24":  # newer versions of Python read it as the next midnight
        return None
    try:
        moment = datetime.fromisoformat(text[: len(text) - len(offset)]).replace(tzinfo=UTC)
    except ValueError:  # no day of the calendar
        return None
    try:
        if offset and offset not in "Zz":
            moment -= _offset(offset)
        elif not offset and zone != "UTC":
            moment = moment.replace(tzinfo=zone_info(zone)).astimezone(UTC)
    except OverflowError:
        return None
    return from_datetime(moment)


def _offset(text: str) -> timedelta:
    digits = text[1:].replace(":", "").ljust(4, "0")
    span = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -span if text[0] == "-" else span
