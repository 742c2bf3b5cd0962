"""Values of project variables, converted to the variable's type.

Source: docs/spec/query-endpoints.md#52-variables.
"""

import math
from datetime import UTC, datetime
from typing import Any

import orjson

from hoglet.kit.errors import Invalid
from hoglet.kit.json import is_array
from hoglet.kit.relative_dates import DateClock, NotADate, resolve_date

_TRUE = frozenset({"true", "1", "yes"})
_FALSE = frozenset({"false", "0", "no"})
_TEXT_LIMIT = 100_000
_ANY_DAY = DateClock(datetime(2026, 1, 1, tzinfo=UTC))
"""Used only to validate dates; the result does not depend on the day."""


def convert(name: str, value: Any, kind: str) -> Any:
    """Convert a value to the variable's type; JSON of another type is returned unchanged.

    Example:
        >>> convert("n", "5", "Number"), convert("l", "a,b", "List")
        (5, ['a', 'b'])
    """
    if isinstance(value, str):
        if len(value) > _TEXT_LIMIT:
            detail = f"The value of variable {name} is longer than {_TEXT_LIMIT} characters."
            raise Invalid(detail, attr="variables")
        return _from_text(name, value, kind)
    if value is None or isinstance(value, bool | int | float):
        return value
    if is_array(value) and all(_is_scalar(item) for item in value):
        return value
    raise _does_not_fit(name, value, kind)


def _from_text(name: str, text: str, kind: str) -> Any:
    match kind:
        case "Number":
            return _number(name, text)
        case "Boolean":
            return _boolean(name, text)
        case "List":
            return _list(text)
        case "Date":
            return _date(name, text)
        case _:
            return text


def _number(name: str, text: str) -> int | float:
    try:
        number = float(text)
        whole = int(text) if text.strip().lstrip("+-").isdecimal() else None
    except ValueError:
        raise _does_not_fit(name, text, "Number") from None
    if not math.isfinite(number):
        raise _does_not_fit(name, text, "Number")
    return number if whole is None else whole


def _boolean(name: str, text: str) -> bool:
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise _does_not_fit(name, text, "Boolean")


def _list(text: str) -> list[Any]:
    """A JSON list, or comma-separated items."""
    try:
        parsed = orjson.loads(text)
    except orjson.JSONDecodeError:
        parsed = None
    if is_array(parsed) and all(_is_scalar(item) for item in parsed):
        return parsed
    return [item.strip() for item in text.split(",")] if text.strip() else []


def _date(name: str, text: str) -> str:
    """The date as text: the query determines whether it is a date or a timestamp."""
    try:
        resolve_date(text, _ANY_DAY)
    except NotADate:
        raise _does_not_fit(name, text, "Date") from None
    return text


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _does_not_fit(name: str, value: Any, kind: str) -> Invalid:
    if isinstance(value, str):
        detail = f'The value "{value}" of variable {name} is not a {kind}.'
    else:
        detail = f"The value of variable {name} is an object or a nested list, not a {kind}."
    return Invalid(detail, attr="variables")
