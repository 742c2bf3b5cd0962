"""Converts dates to timestamps: midnight in the project's time zone, not the engine's.

Source: docs/spec/query-endpoints.md#104-functions (times are in the project's time zone).
"""

from hoglet.hogql.context import QueryContext
from hoglet.hogql.plan import Expr, FunctionCall, TrustedSQL, Value
from hoglet.hogql.types import DATETIME, FLOAT, INTEGER, Type
from hoglet.hogql.wall_times import existing, time_of_text

_INTERVAL = "toInterval"
_CLOCK = frozenset({"hour", "minute", "second", "millisecond", "microsecond", "nanosecond"})


def as_time(value: Expr, context: QueryContext) -> Expr:
    """A string as a timestamp in the project's time zone, NULL if invalid.

    Other values are unchanged. An invalid constant is an error of the query.
    """
    if value.type.name not in {"String", "JSON"}:
        return value
    if not isinstance(value, Value):
        return time_of_text(value, context.timezone)
    text = existing(value, context.timezone)
    parts = ("parseDateTime64BestEffort(", text, f", 6, '{context.timezone}')")
    return TrustedSQL(parts=parts, type=DATETIME)


def instant(value: Expr, context: QueryContext) -> Expr:
    """A date as its midnight; other values are unchanged."""
    if value.type.name != "Date":
        return value
    parts = ("toDateTime64(", value, f", 0, '{context.timezone}')")
    return TrustedSQL(parts=parts, type=DATETIME.or_null(value.type.nullable))


_NARROW = "NOT BETWEEN 0 AND 4294967295"
"""Seconds outside the engine's 32 bits."""


def narrow(at: Expr) -> Expr:
    """A timestamp as the engine's ``DateTime``; outside 1970 to 2106 the query fails."""
    outside = ("throwIf(ifNull(toInt64(", at, f") {_NARROW}, 0), 'a time is out of range')")
    return TrustedSQL(parts=("(toDateTime(", at, ") + ", *outside, ")"), type=at.type)


def unit_of(step: Expr) -> str | None:
    """The unit of an interval, e.g. ``hour`` of ``toIntervalHour(6)``; None for several."""
    units = units_of(step)
    return next(iter(units)) if len(units) == 1 else None


def units_of(step: Expr) -> set[str]:
    """The units of an interval: ``day`` and ``hour`` of ``interval 1 day + interval 2 hour``."""
    if not isinstance(step, FunctionCall):
        return set()
    if step.function.startswith(_INTERVAL):
        return {step.function.removeprefix(_INTERVAL).lower()}
    if step.type.name != "Interval":
        return set()
    return {unit for arg in step.args for unit in units_of(arg)}


def moved(left: Expr, right: Expr, context: QueryContext) -> tuple[Expr, Expr]:
    """Both operands of ``date + interval``: a date plus hours becomes a timestamp.

    Strings are parsed in the project's time zone.
    """
    if left.type.name == "Interval":
        right = as_time(right, context)
    elif right.type.name == "Interval":
        left = as_time(left, context)
    if units_of(left) & _CLOCK:
        return left, instant(right, context)
    if units_of(right) & _CLOCK:
        return instant(left, context), right
    return left, right


def difference(left: Expr, right: Expr, context: QueryContext) -> Expr | None:
    """``left - right``: days for dates, else seconds with a fraction.

    The engine's type depends on its operands: an integer or a decimal.
    """
    if "DateTime" in {left.type.name, right.type.name}:
        left, right = (instant(as_time(each, context), context) for each in (left, right))
    nullable = left.type.nullable or right.type.nullable
    names = {left.type.name, right.type.name}
    if names == {"Date"}:
        days = ("dateDiff('day', ", right, ", ", left, ")")
        return TrustedSQL(parts=days, type=INTEGER.or_null(nullable))
    if names != {"DateTime"}:
        return None
    return TrustedSQL(parts=("toFloat64(", left, " - ", right, ")"), type=FLOAT.or_null(nullable))


def of_instants(args: tuple[Expr, ...], type_: Type, context: QueryContext, name: str) -> Expr:
    """Adapt a function of timestamps to dates."""
    return FunctionCall(
        function=name, args=tuple([instant(arg, context) for arg in args]), type=type_
    )


def between(args: tuple[Expr, ...], type_: Type, context: QueryContext, name: str) -> Expr:
    """The distance of two times: a date becomes a timestamp if the other one is."""
    unit, *times = args
    times = [as_time(each, context) for each in times]
    if {each.type.name for each in times} == {"Date", "DateTime"}:
        times = [instant(each, context) for each in times]
    nullable = any(each.type.nullable for each in times)
    return FunctionCall(function=name, args=(unit, *times), type=type_.or_null(nullable))


def unix_time(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    """``toUnixTimestamp``: dates and strings are in the project's time zone, or in the one given.

    The engine's own function fails for timestamps before 1970 and after 2106.
    """
    if len(args) == 2:
        parts = ("parseDateTime64BestEffortOrNull(", args[0], ", 6, ", args[1], ")")
        at: Expr = TrustedSQL(parts=parts, type=DATETIME.or_null())
    else:
        at = instant(as_time(args[0], context), context)
    return TrustedSQL(parts=("toInt64(", at, ")"), type=type_.or_null(at.type.nullable))
