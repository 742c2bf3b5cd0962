"""Converts both sides of a comparison to one type: numbers, times or strings.

A string property compared with a number is converted to a number; a string compared with a date is
parsed in the project's time zone.

Source: docs/spec/query-endpoints.md#104-functions.
"""

import math
from collections.abc import Iterable

from hoglet.hogql.plan import Expr, FunctionCall, Number, TrustedSQL, Value
from hoglet.hogql.types import (
    BOOLEAN,
    DATE,
    DATETIME,
    FLOAT,
    NUMBERS,
    STRING,
    TIMES,
)
from hoglet.hogql.wall_times import existing, time_of_text

ALWAYS = Number(text="1", type=BOOLEAN)
NEVER = Number(text="0", type=BOOLEAN)
"""Type of comparisons with a known result, as in the engine."""


def is_null(expr: Expr) -> bool:
    """Whether an expression is the literal NULL."""
    return isinstance(expr, Number) and expr.text == "NULL"


def may_hold_null(expr: Expr) -> bool:
    """Whether an expression may be NULL; true for unknown types."""
    return expr.type.nullable or expr.type.name == "Unknown"


def align(  # noqa: PLR0911 (one return a pair of types)
    left: Expr, right: Expr, timezone: str
) -> tuple[Expr, Expr]:
    """Convert both sides to one type."""
    item, two = left.type.name, right.type.name
    if item == two:
        return left, right
    if {item, two} == {"Float", "Integer"}:
        return _as_float(left), _as_float(right)
    if item in TIMES and two == "String":
        return left, _as_time(right, item, timezone)
    if two in TIMES and item == "String":
        return _as_time(left, two, timezone), right
    if item == "String" and two in NUMBERS:
        return _number(left), right
    if two == "String" and item in NUMBERS:
        return left, _number(right)
    if "Boolean" in {item, two} and "String" in {item, two}:
        return text_of(left), text_of(right)
    if "UUID" in {item, two} and not isinstance(left, Value) and not isinstance(right, Value):
        return (text_of(left), text_of(right)) if "String" in {item, two} else (left, right)
    return left, right


def _as_time(expr: Expr, target: str, timezone: str) -> Expr:
    if not isinstance(expr, Value):
        return time_of_text(expr, timezone)
    text = expr if timezone == "UTC" else existing(expr, timezone)
    parts = ("parseDateTime64BestEffort(", text, f", 6, '{timezone}')")
    parsed = TrustedSQL(parts=parts, type=DATETIME)
    if target == "DateTime" or len(str(expr.value)) > len("2026-01-05"):
        return parsed
    return FunctionCall(function="toDate32", args=(parsed,), type=DATE)


_EXACT = 2**53


def _as_float(expr: Expr) -> Expr:
    """An integer beyond the precision of floats, as a float."""
    if not isinstance(expr, Number) or not expr.text.lstrip("-").isdigit():
        return expr
    value = int(expr.text)
    return expr if abs(value) <= _EXACT else Number(text=repr(float(value)), type=FLOAT)


def _number(expr: Expr) -> Expr:
    parts = ("accurateCastOrNull(", expr, ", 'Float64')")
    return TrustedSQL(parts=parts, type=FLOAT.or_null())


def text_of(expr: Expr) -> Expr:
    """The expression as a string; NULL stays NULL."""
    if expr.type.name == "String":
        return expr
    return FunctionCall(function="toString", args=(expr,), type=STRING.or_null(expr.type.nullable))


def aligned_items(left: Expr, items: Iterable[Expr], timezone: str) -> list[Expr]:
    """The items of a list converted to the type of the left side; others are dropped."""
    items = list(items)
    if left.type.name in NUMBERS:
        return [each for item in items if (each := _number_in_list(item)) is not None]
    if left.type.name == "Boolean" and any(item.type.name == "String" for item in items):
        return [text_of(item) for item in items]
    if left.type.name == "String":
        return [text_of(item) if item.type.name != "Unknown" else item for item in items]
    if left.type.name in TIMES:
        name = left.type.name
        return [_time_in_list(item, name, timezone) for item in items]
    return items


def _time_in_list(item: Expr, target: str, timezone: str) -> Expr:
    """A string as a timestamp; a number as seconds if the other side is a timestamp."""
    if item.type.name == "String":
        return _as_time(item, target, timezone)
    if target == "DateTime" and item.type.name in NUMBERS:
        parts = ("toDateTime64(", item, f", 6, '{timezone}')")
        return TrustedSQL(parts=parts, type=DATETIME.or_null(item.type.nullable))
    return item


def _number_in_list(item: Expr) -> Expr | None:
    """A string as a number; None if it is not numeric, since no number equals it."""
    if item.type.name != "String":
        return item
    if not isinstance(item, Value):
        return _number(item)
    try:
        number = float(str(item.value))
    except ValueError:
        return None
    return Number(text=repr(number), type=FLOAT) if math.isfinite(number) else None
