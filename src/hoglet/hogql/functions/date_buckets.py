"""Builders of the functions that round timestamps down, and of numbers of days, weeks and so on.

The engine's own ``toStartOfDay`` has six digits of a second if the timestamp has them;
``toStartOfInterval`` has none.

Source: docs/adr/0050-range-of-dates.md.
"""

from collections.abc import Callable

from hoglet.hogql.context import QueryContext
from hoglet.hogql.functions.datetime_zone import as_time, instant, of_instants, unit_of
from hoglet.hogql.plan import Expr, FunctionCall, Number, TrustedSQL, Value
from hoglet.hogql.types import DATE, INTEGER, INTERVAL, STRING, UNKNOWN, Type

type Builder = Callable[[tuple[Expr, ...], Type, QueryContext], Expr]

_DAYS_AND_MORE = frozenset({"week", "month", "quarter", "year"})

_FRACTIONS = frozenset({None, "millisecond", "microsecond", "nanosecond"})

_STEPS = {
    "toStartOfDay": "toIntervalDay(1)",
    "toStartOfHour": "toIntervalHour(1)",
    "toStartOfMinute": "toIntervalMinute(1)",
    "toStartOfFiveMinute": "toIntervalMinute(5)",
    "toStartOfFiveMinutes": "toIntervalMinute(5)",
    "toStartOfTenMinutes": "toIntervalMinute(10)",
    "toStartOfFifteenMinutes": "toIntervalMinute(15)",
    "timeSlot": "toIntervalMinute(30)",
}


def _sql(type_: Type, *parts: str | Expr) -> TrustedSQL:
    return TrustedSQL(parts=parts, type=type_)


def _start_of(step: str) -> Builder:
    def build(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
        at = _whole_second(instant(args[0], context))
        length = TrustedSQL(parts=(step,), type=INTERVAL)
        return FunctionCall(function="toStartOfInterval", args=(at, length), type=type_)

    return build


def _whole_second(at: Expr) -> Expr:
    """Without its fraction: before 1970 the engine rounds it up, into the next interval."""
    return _sql(at.type, "toStartOfSecond(", at, ")") if at.type.name == "DateTime" else at


def _date_trunc(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    if len(args) == 3:
        at = as_time(args[1], context)
        args = (args[0], _sql(at.type, "toTimeZone(", instant(at, context), ", ", args[2], ")"))
    unit = str(args[0].value).lower() if isinstance(args[0], Value) else ""
    if unit in _DAYS_AND_MORE:
        args = (args[0], _whole_second(args[1]))
        return FunctionCall(function="dateTrunc", args=args, type=DATE.or_null(type_.nullable))
    at = instant(args[1], context)
    type_ = at.type if unit else UNKNOWN.or_null(at.type.nullable)
    at = at if unit == "millisecond" else _whole_second(at)
    return FunctionCall(function="dateTrunc", args=(args[0], at), type=type_)


def _start_of_interval(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    unit, at = unit_of(args[1]), args[0]
    if unit in _DAYS_AND_MORE:
        type_ = DATE.or_null(type_.nullable)
    else:
        at = instant(at, context)
    args = (at if unit in _FRACTIONS else _whole_second(at), *args[1:])
    return FunctionCall(function="toStartOfInterval", args=args, type=type_)


def _date_bin(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    """PostgreSQL's ``date_bin(step, time, origin)``."""
    return _start_of_interval((args[1], args[0], *args[2:]), type_, context)


def _start_of_week(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    """Without a mode, weeks start on the project's ``week_start_day``; mode 3 means Monday."""
    if len(args) == 1 and context.week_start_day:
        args = (*args, Number(text="3", type=INTEGER))
    return FunctionCall(function="toStartOfWeek", args=args, type=type_)


def _of_instants(name: str) -> Builder:
    return lambda args, type_, context: of_instants(args, type_, context, name)


_CLOCK = {
    **{name: name for name in ("toHour", "toMinute", "toSecond")},
    "hour": "toHour",
    "minute": "toMinute",
    "second": "toSecond",
}

# --- numbers

_NUMBERS: dict[str, tuple[str, str]] = {
    "toRelativeDayNum": ("toInt32(toDate32(", "))"),
    "toRelativeWeekNum": ("toInt32(floor((toInt32(toDate32(", ")) + 3) / 7))"),
    "toMonthNumSinceEpoch": ("toInt32(toRelativeMonthNum(", ") - 23641)"),
    "toYearNumSinceEpoch": ("toInt32(toYear(", ") - 1970)"),
}
"""Computed, since the engine's own end at 1970."""
_CLOCK_NUMBERS = {"toRelativeHourNum": 3600, "toRelativeMinuteNum": 60, "toRelativeSecondNum": 1}


def _number(before: str, after: str) -> Builder:
    def build(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
        return _sql(type_, before, args[0], after)

    return build


def _clock_number(name: str, seconds: int) -> Builder:
    """The engine's number if the timestamp fits its 32 bits, else units since 1970 in UTC."""

    def build(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
        at = instant(args[0], context)
        fits = ("toInt64(", at, ") BETWEEN 0 AND 4294967295")
        computed = ("toInt64(floor(toInt64(", at, f") / {seconds}))")
        return _sql(type_, "if(", *fits, f", toInt64({name}(", at, ")), ", *computed, ")")

    return build


def _month_name(args: tuple[Expr, ...], _type: Type, _context: QueryContext) -> Expr:
    """The engine's ``monthName`` does not accept its own wide dates."""
    at = _whole_second(args[0])
    return _sql(STRING.or_null(at.type.nullable), "dateName('month', ", at, ")")


def _date_name(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    return _sql(type_, "dateName(", args[0], ", ", _whole_second(args[1]), ")")


BUCKETS: dict[str, Builder] = {
    **{name: _start_of(step) for name, step in _STEPS.items()},
    **dict.fromkeys(("dateTrunc", "date_trunc"), _date_trunc),
    **dict.fromkeys(("toStartOfInterval", "time_bucket"), _start_of_interval),
    "date_bin": _date_bin,
    "toStartOfWeek": _start_of_week,
    **{
        f"{word}{unit}": _of_instants(f"{word}{unit}")
        for word in ("add", "subtract")
        for unit in ("Hours", "Minutes", "Seconds")
    },
    **{name: _of_instants(function) for name, function in _CLOCK.items()},
    **{name: _number(*parts) for name, parts in _NUMBERS.items()},
    **{name: _clock_number(name, seconds) for name, seconds in _CLOCK_NUMBERS.items()},
    "dateName": _date_name,
    "monthName": _month_name,
}
"""Merged into the table of ``special``."""
