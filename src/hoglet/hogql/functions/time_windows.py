"""Time windows and slots: ``tumble``, ``hop`` and ``timeSlots`` for all time types.

The engine accepts whole seconds only; windows are aligned to UTC unless a time zone is given.

Source: docs/spec/data-and-queries.md#72-functions-array-join-paths.
"""

from collections.abc import Callable

from hoglet.hogql.context import QueryContext
from hoglet.hogql.functions.datetime_zone import as_time, instant, unit_of
from hoglet.hogql.plan import Expr, FunctionCall, TrustedSQL
from hoglet.hogql.types import DATE, DATETIME, Type

type Builder = Callable[[tuple[Expr, ...], Type, QueryContext], Expr]


def _whole_seconds(value: Expr, context: QueryContext) -> Expr:
    """A time as ``DateTime`` in UTC; a computed window stays as it is."""
    if value.type.name == "Tuple":
        return value
    at = instant(as_time(value, context), context)
    parts = ("toDateTime(", at, ", 'UTC')")
    return TrustedSQL(parts=parts, type=DATETIME.or_null(at.type.nullable))


_NO_TIME = "toDateTime(946684800, 'UTC')"
"""Replaces NULL before computing, as windows of the engine's zero would start before it."""
_DATES = frozenset({"week", "month", "quarter", "year"})


def _window(name: str) -> Builder:
    def build(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
        at = _whole_seconds(args[0], context)
        if type_.name == "DateTime" and len(args) > 1 and unit_of(args[1]) in _DATES:
            type_ = DATE
        type_ = type_.not_null().or_null(at.type.nullable)
        if not at.type.nullable:
            return FunctionCall(function=name, args=(at, *args[1:]), type=type_)
        known = TrustedSQL(parts=("ifNull(", at, f", {_NO_TIME})"))
        window = FunctionCall(function=name, args=(known, *args[1:]))
        return TrustedSQL(parts=("if(isNull(", at, "), NULL, ", window, ")"), type=type_)

    return build


def _time_slots(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    """The half-hour slots from a time on, for a number of seconds; empty for NULL."""
    at = _whole_seconds(args[0], context)
    sizes: list[str | Expr] = []
    for size in args[1:]:
        sizes += [", toUInt32(greatest(toInt64(ifNull(", size, ", 0)), 0))"]
    found = ("timeSlots(assumeNotNull(", at, ")", *sizes, ")")
    if not at.type.nullable:
        return TrustedSQL(parts=found, type=type_)
    return TrustedSQL(parts=("if(isNull(", at, "), [], ", *found, ")"), type=type_)


TIME_WINDOWS = {
    **{
        name: _window(name)
        for name in ("tumble", "tumbleStart", "tumbleEnd", "hop", "hopStart", "hopEnd")
    },
    "timeSlots": _time_slots,
}
"""Merged into the table of ``special``."""
