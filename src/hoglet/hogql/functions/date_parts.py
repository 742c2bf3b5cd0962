"""Date parts and formats of PostgreSQL (``extract(dow from x)``, ``to_char``), and time windows.

Parts are integers: seconds and epoch have no fraction. Weeks are ISO 8601 weeks.

``tumble``, ``hop`` and ``timeSlots`` accept all time types, although the engine accepts whole
seconds only; windows are aligned to UTC unless a time zone is given.

Source: docs/spec/data-and-queries.md#72-functions-array-join-paths.
"""

import re
from collections.abc import Callable

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import near, refused
from hoglet.hogql.functions.datetime_zone import as_time, instant, narrow, unit_of
from hoglet.hogql.plan import Expr, FunctionCall, Number, TrustedSQL, Value
from hoglet.hogql.types import DATE, DATETIME, INTEGER, STRING, Type

_PARTS: dict[str, tuple[str, str]] = {
    "millennium": ("intDiv(toYear(", ") + 999, 1000)"),
    "century": ("intDiv(toYear(", ") + 99, 100)"),
    "decade": ("intDiv(toYear(", "), 10)"),
    "year": ("toYear(", ")"),
    "isoyear": ("toISOYear(", ")"),
    "quarter": ("toQuarter(", ")"),
    "month": ("toMonth(", ")"),
    "week": ("toISOWeek(", ")"),
    "day": ("toDayOfMonth(", ")"),
    "dow": ("toDayOfWeek(", ") % 7"),
    "isodow": ("toDayOfWeek(", ")"),
    "doy": ("toDayOfYear(", ")"),
    "hour": ("toHour(", ")"),
    "minute": ("toMinute(", ")"),
    "second": ("toSecond(", ")"),
    "epoch": ("toInt64(", ")"),
}
_CLOCK = frozenset({"hour", "minute", "second", "epoch"})


def date_part(args: tuple[Expr, ...], _type: Type, context: QueryContext) -> Expr:
    """A date part; while the unit is unknown (a variable when saving), the result is an integer."""
    unit, at = _unit(args[0]), as_time(args[1], context)
    at = instant(at, context) if unit in _CLOCK else at
    before, after = _PARTS[unit]
    type_ = INTEGER.or_null(at.type.nullable)
    return TrustedSQL(parts=(f"toInt64({before}", at, f"{after})"), type=type_)


def _unit(expr: Expr) -> str:
    if isinstance(expr, Number) and expr.text == "NULL":
        return "year"
    word = str(expr.value).strip().lower() if isinstance(expr, Value) else ""
    for unit in (word, word.removesuffix("s")):
        if unit in _PARTS:
            return unit
    visible = f"'{word}'" if word else "this expression"
    raise refused(f"Unknown part of a time: {visible}.{near(word, _PARTS)}")


def to_char(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    """PostgreSQL formats; formats with a percent sign are the engine's own."""
    pattern = args[1]
    if isinstance(pattern, Value) and "%" not in str(pattern.value):
        words = _CHAR_WORDS.sub(lambda match: _CHAR_PATTERNS[match.group()], str(pattern.value))
        pattern = Value(value=words, bind="String", type=STRING)
    return FunctionCall(function="formatDateTime", args=(args[0], pattern), type=type_)


_CHAR_PATTERNS = {
    "YYYY": "%Y", "YY": "%y", "IYYY": "%G", "Q": "%Q", "MM": "%m", "Month": "%M", "Mon": "%b",
    "IW": "%V", "DDD": "%j", "DD": "%d", "D": "%w", "ID": "%u", "Day": "%W", "Dy": "%a",
    "HH24": "%H", "HH12": "%I", "HH": "%I", "MI": "%i", "SS": "%S", "US": "%f", "AM": "%p",
    "PM": "%p",
}  # fmt: skip
_CHAR_WORDS = re.compile("|".join(sorted(_CHAR_PATTERNS, key=len, reverse=True)))


type Builder = Callable[[tuple[Expr, ...], Type, QueryContext], Expr]


def _whole_seconds(value: Expr, context: QueryContext) -> Expr:
    """A time as ``DateTime`` in UTC; a computed window is unchanged.

    Outside the range of ``DateTime`` it is NULL if it can be NULL; otherwise the query fails.
    """
    if value.type.name == "Tuple":
        return value
    at = instant(as_time(value, context), context)
    if not at.type.nullable:
        return TrustedSQL(parts=("toTimeZone(", narrow(at), ", 'UTC')"), type=DATETIME)
    fits = ("toInt64(", at, ") BETWEEN 0 AND 4294967295")
    parts = ("if(", *fits, ", toDateTime(", at, ", 'UTC'), NULL)")
    return TrustedSQL(parts=parts, type=at.type)


_NO_TIME = "toDateTime(946684800, 'UTC')"
"""Stands in for NULL: a window around the engine's epoch would start before the epoch."""
_NO_TIME_64 = "toDateTime64(946684800, 0, 'UTC')"
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
    """The half-hour slots from a time to a number of seconds later; empty for NULL.

    The engine's own function rounds times before 1970 up.
    """
    at = instant(as_time(args[0], context), context)
    at = TrustedSQL(parts=("toInt64(toStartOfSecond(ifNull(", at, f", {_NO_TIME_64})))"))
    lasts, size = (_number_of_seconds(each) for each in (*args[1:], _HALF_HOUR)[:2])
    first = ("toInt64(floor(", at, " / ", size, ")) * ", size)
    slots = ("range(", *first, ", ", at, " + ", lasts, " + 1, ", size, ")")
    times = ("arrayMap(slot -> toDateTime64(slot, 0, 'UTC'), ", *slots, ")")
    if not args[0].type.nullable:
        return TrustedSQL(parts=times, type=type_)
    return TrustedSQL(parts=("if(isNull(", args[0], "), [], ", *times, ")"), type=type_)


_HALF_HOUR = Number(text="1800", type=INTEGER)


def _number_of_seconds(size: Expr) -> Expr:
    return TrustedSQL(parts=("greatest(toInt64(ifNull(", size, ", 0)), 0)"))


TIME_WINDOWS = {
    **{
        name: _window(name)
        for name in ("tumble", "tumbleStart", "tumbleEnd", "hop", "hopStart", "hopEnd")
    },
    "timeSlots": _time_slots,
}
"""Merged into the table of ``special``."""
