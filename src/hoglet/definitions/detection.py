"""Detects the type of a property from its key and a value. Pure.

Source: docs/spec/data-and-queries.md#21-type-of-a-property
"""

import re
from datetime import date, datetime
from typing import Any, Final

BOOLEAN: Final = "Boolean"
DATETIME: Final = "DateTime"
NUMERIC: Final = "Numeric"
STRING: Final = "String"

MAX_TIMESTAMP_AGE: Final = 15_768_000  # half a year in seconds; older numbers are not timestamps

_TEXT_KEYS = ("utm_", "$initial_utm_", "$feature/", "$survey_response")
_TIME_KEYS = ("time", "date", "_at", "-at", "createdat", "updatedat")
_BOOLEAN_TEXTS = frozenset({"true", "false", "TRUE", "FALSE"})

_DAY = r"(?:[0-9]{4}[-/][0-2][0-9][-/][0-3][0-9]|[0-2][0-9][-/][0-3][0-9][-/][0-9]{4})"
_STARTS_LIKE_DATE = re.compile(rf"{_DAY}(?:[ T][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}.*)?", re.DOTALL)
_RFC_3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)"
    r"(?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_RFC_2822 = re.compile(
    rf"(?:({'|'.join(_WEEKDAYS)})\s*,\s*)?([0-9]{{1,2}})\s+({'|'.join(_MONTHS)})\s+([0-9]{{2,4}})"
    r"\s+(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::(?:[0-5][0-9]|60))?"
    r"\s+(?:[+-][0-9]{4}|UT|GMT|[ECMP][SD]T|[A-IK-Z])",
    re.IGNORECASE,
)
_CENTURY_PIVOT = 50  # two-digit years: 49 is 2049, 50 is 1950


def detect_type(key: str, value: Any, *, now: float) -> str | None:
    """The type of a property value, or None (null, list, object).

    Args:
        key: the property's name.
        value: the JSON value.
        now: seconds since 1970; integers near it are timestamps if the key names a time.

    Example:
        >>> detect_type("plan", "pro", now=0), detect_type("size", 5, now=0)
        ('String', 'Numeric')
        >>> detect_type("utm_source", 5, now=0), detect_type("tags", [], now=0)
        ('String', None)
    """
    name = key.lower()
    if name.startswith(_TEXT_KEYS) or name == "$feature_flag_response":
        return STRING
    if isinstance(value, str):
        return _type_of_text(value)
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, int) and value >= now - MAX_TIMESTAMP_AGE and _names_time(name):
        return DATETIME
    return NUMERIC if isinstance(value, int | float) else None


def _type_of_text(value: str) -> str:
    text = value.strip()
    if text in _BOOLEAN_TEXTS:
        return BOOLEAN
    return DATETIME if is_date_like(text) else STRING


def _names_time(name: str) -> bool:
    return any(part in name for part in _TIME_KEYS)


def is_date_like(text: str) -> bool:
    """Whether a string is a date or a timestamp.

    Example:
        >>> is_date_like("2026-01-05"), is_date_like("Mon, 5 Jan 2026 10:00 GMT")
        (True, True)
        >>> is_date_like("31-12-2026"), is_date_like("10:00:00")
        (False, False)
    """
    if not text:
        return False
    if "0" <= text[0] <= "9" and (_STARTS_LIKE_DATE.fullmatch(text) or _is_rfc_3339(text)):
        return True
    return _is_rfc_2822(text)


def _is_rfc_3339(text: str) -> bool:
    match = _RFC_3339.fullmatch(text)
    return match is not None and _is_day(*map(int, match.group(1, 2, 3)))


def _is_rfc_2822(text: str) -> bool:
    match = _RFC_2822.fullmatch(text)
    if match is None:
        return False
    year, month = int(match[4]), _MONTHS.index(match[3].lower()) + 1
    if len(match[4]) < 4:
        year += 2000 if len(match[4]) == 2 and year < _CENTURY_PIVOT else 1900
    if not _is_day(year, month, int(match[2])):
        return False
    weekday = datetime(year, month, int(match[2])).weekday()  # noqa: DTZ001 (a calendar day)
    return match[1] is None or _WEEKDAYS[weekday] == match[1].lower()


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
