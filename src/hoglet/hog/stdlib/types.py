"""Types, null, errors, logic and numbers."""

import math
import re
from typing import Any, Final

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.compare import order_plain, plain_join, same, truthy
from hoglet.hog.runtime.dates import days_of
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.formatting import as_text, printed
from hoglet.hog.runtime.numbers import add, subtract, text_to_number, to_number, whole
from hoglet.hog.runtime.text import mend
from hoglet.hog.runtime.values import (
    LARGEST_INTEGER,
    HogDate,
    HogDateTime,
    HogError,
    HogTuple,
    is_number,
    type_name,
)
from hoglet.hog.stdlib.arguments import plain_text

_EXACT_DIGITS: Final = 16  # fewer digits are always within ±2^53
_LEADING_INTEGER: Final = re.compile(r"\s*([+-]?)(?:(0[xX][0-9a-fA-F]+)|([0-9]+))")
_LEADING_DECIMAL: Final = re.compile(
    r"\s*([+-]?(?:Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))"
)


def to_string(value: Any, _zone: Any = None) -> str:
    return as_text(value)


def type_of(value: Any) -> str:
    return type_name(value)


def to_int(value: Any) -> Any:  # noqa: PLR0911 (one line a type)
    kind = type(value)
    if kind is int:
        return value
    if kind is str and len(value) < _EXACT_DIGITS and value.isdigit() and value.isascii():
        return int(value)
    if kind is float and 1e-6 <= abs(value) <= LARGEST_INTEGER:
        return int(value)
    if kind is HogDateTime:
        return math.floor(value.seconds)
    if kind is HogDate:
        return days_of(value)
    if kind is bool or value is None:
        return None
    match = _LEADING_INTEGER.match(_number_source(value))
    if match is None:
        return None
    number = text_to_number(match[2] or match[3])
    return -number if match[1] == "-" else number


def _number_source(value: Any) -> str:
    """The text that is searched for a leading number."""
    if isinstance(value, list):
        return plain_join(value)[:5000]
    return value[:5000] if type(value) is str else as_text(value)[:5000]


def _is_decimal(text: str) -> bool:
    """Whether it is digits with at most one point."""
    return text.isascii() and text.replace(".", "", 1).isdigit()


def to_float(value: Any) -> Any:
    kind = type(value)
    if kind is int or kind is float:
        return value if value == value else None  # noqa: PLR0124 (NaN has no digits)
    if kind is HogDateTime:
        return value.seconds
    if kind is HogDate:
        return days_of(value)
    if kind is bool or value is None:
        return None
    if kind is str and len(value) < _EXACT_DIGITS and _is_decimal(value):
        return whole(float(value))
    match = _LEADING_DECIMAL.match(_number_source(value))
    return None if match is None else whole(float(match[1]))


def make_tuple(*items: Any) -> HogTuple:
    return HogTuple(items)


def if_null(value: Any, fallback: Any) -> Any:
    return fallback if value is None else value


def is_null(value: Any) -> bool:
    return value is None


def is_not_null(value: Any) -> bool:
    return value is not None


def coalesce(*values: Any) -> Any:
    for value in values:
        if value is not None:
            return value
    return None


def assume_not_null(value: Any) -> Any:
    if value is None:
        raise EngineError("Value is null in assumeNotNull")
    return value


def equals(left: Any, right: Any) -> bool:
    return left is right if isinstance(left, list) else same(left, right)


def not_equals(left: Any, right: Any) -> bool:
    return not equals(left, right)


def greater(left: Any, right: Any) -> bool:
    return order_plain(left, right, lambda a, b: a > b)


def greater_or_equals(left: Any, right: Any) -> bool:
    return order_plain(left, right, lambda a, b: a >= b)


def less(left: Any, right: Any) -> bool:
    return order_plain(left, right, lambda a, b: a < b)


def less_or_equals(left: Any, right: Any) -> bool:
    return order_plain(left, right, lambda a, b: a <= b)


def logical_not(value: Any) -> bool:
    return not truthy(value)


def logical_and(*values: Any) -> bool:
    return all(truthy(value) for value in values)


def logical_or(*values: Any) -> bool:
    return any(truthy(value) for value in values)


def choose(condition: Any, then: Any, otherwise: Any = None) -> Any:
    return then if truthy(condition) else otherwise


def choose_many(*values: Any) -> Any:
    for index in range(0, len(values) - 1, 2):
        if truthy(values[index]):
            return values[index + 1]
    return values[-1] if len(values) % 2 else None


def plus(left: Any, right: Any) -> Any:
    if _joins(left) or _joins(right):
        first, second = plain_text(left), plain_text(right)
        if len(first) + len(second) > meter.LARGE:
            meter.charge(len(first) + len(second))
        return mend(first + second)
    return add(left, right)


def _joins(value: Any) -> bool:
    return value is not None and type(value) is not bool and not is_number(value)


def minus(left: Any, right: Any) -> Any:
    return subtract(left, right)


def smaller(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    return left if less(left, right) else right


def larger(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    return left if greater(left, right) else right


_LEAST, _MOST = -float(LARGEST_INTEGER), float(LARGEST_INTEGER)
"""Floats are compared with floats in a third of the time that large ints take."""


def floor(value: Any, _digits: Any = None) -> Any:
    number = to_number(value)
    return math.floor(number) if _LEAST < number < _MOST else number


def round_number(value: Any, _digits: Any = None) -> Any:
    number = value if type(value) is float else to_number(value)
    if type(number) is int or not _LEAST < number < _MOST:
        return number
    low = math.floor(number)
    result = low + 1 if number - low >= 0.5 else low
    return result if result or number >= 0 else -0.0


def random_float() -> float:
    return meter.current().random()


def make_error(message: Any = None, payload: Any = None) -> HogError:
    return HogError("Error", message, payload)


def make_retry_error(message: Any = None, payload: Any = None) -> HogError:
    return HogError("RetryError", message, payload)


def make_not_implemented_error(message: Any = None, payload: Any = None) -> HogError:
    return HogError("NotImplementedError", message, payload)


def make_hog_error(type_name: Any, message: Any = None, payload: Any = None) -> HogError:
    return HogError(type_name, message, payload)


def print_line(*values: Any) -> None:
    meter.current().write_line(" ".join([printed(value) for value in values]))
