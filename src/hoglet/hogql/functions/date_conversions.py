"""Builders of dates and timestamps: the present, conversions of other types, parts put together.

Results are the engine's ``Date32`` and ``DateTime64``, which hold the years 0 to 9999. Its ``Date``
ends in 2149 and its ``DateTime`` in 2106; values outside become the nearest of these.

Source: docs/adr/0050-range-of-dates.md.
"""

from collections.abc import Callable
from datetime import UTC

from hoglet.hogql.context import QueryContext
from hoglet.hogql.functions.datetime_zone import as_time, unix_time
from hoglet.hogql.plan import Expr, FunctionCall, TrustedSQL
from hoglet.hogql.types import DATE, DATETIME, Type
from hoglet.hogql.wall_times import existing, time_of_text

type Builder = Callable[[tuple[Expr, ...], Type, QueryContext], Expr]

_TEXTS = frozenset({"String", "JSON", "Null"})


def _sql(type_: Type, *parts: str | Expr) -> TrustedSQL:
    return TrustedSQL(parts=parts, type=type_)


def _optional(args: tuple[Expr, ...], index: int, default: str) -> str | Expr:
    return args[index] if len(args) > index else default


def _zone(args: tuple[Expr, ...], index: int, context: QueryContext) -> str | Expr:
    return _optional(args, index, f"'{context.timezone}'")


def _existing(value: Expr, zone: str | Expr) -> Expr:
    """A constant that exists in the project's zone; one in a zone of the query is unchanged."""
    return existing(value, zone.strip("'")) if isinstance(zone, str) else value


# --- the present


def _now(args: tuple[Expr, ...], _type: Type, context: QueryContext) -> Expr:
    if args and args[0].type.name == "String":  # now('UTC'); the precision of now64(3) is ignored
        if context.is_now_pinned:
            return _sql(DATETIME, f"toTimeZone({_pinned(context)}, ", args[0], ")")
        return _sql(DATETIME, "now64(6, ", args[0], ")")
    return _sql(DATETIME, _present(context))


def _present(context: QueryContext) -> str:
    """The present time in the project's zone."""
    if context.is_now_pinned:
        return f"toTimeZone({_pinned(context)}, '{context.timezone}')"
    return f"now64(6, '{context.timezone}')"


def _pinned(context: QueryContext) -> str:
    return f"toDateTime64('{context.now.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}', 6, 'UTC')"


def _today(_args: tuple[Expr, ...], _type: Type, context: QueryContext) -> Expr:
    return _sql(DATE, f"toDate32({_present(context)})")


def _yesterday(_args: tuple[Expr, ...], _type: Type, context: QueryContext) -> Expr:
    return _sql(DATE, f"toDate32({_present(context)} - toIntervalDay(1))")


# --- conversions


def _to_date(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    value = args[0]
    if len(args) == 2:
        day = DATE.or_null(type_.nullable)
        return _sql(day, "toDate32(", as_time(value, context), ", ", args[1], ")")
    if value.type.name in _TEXTS:
        return _sql(type_, "toDate32(", time_of_text(value, context.timezone), ")")
    return FunctionCall(function="toDate32", args=(value,), type=DATE.or_null(value.type.nullable))


def _to_datetime(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    value, zone = args[0], _zone(args, 1, context)
    if value.type.name in _TEXTS:
        if len(args) == 1:
            return time_of_text(value, context.timezone)
        return _sql(type_, "parseDateTime64BestEffortOrNull(", value, ", 6, ", zone, ")")
    type_ = DATETIME.or_null(value.type.nullable)
    if value.type.name == "DateTime":
        return value if len(args) == 1 else _sql(type_, "toTimeZone(", value, ", ", zone, ")")
    return _sql(type_, "toDateTime64(", value, ", 0, ", zone, ")")


def _to_datetime64(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    scale, zone = _optional(args, 1, "6"), _zone(args, 2, context)
    if args[0].type.name == "String":
        text = _existing(args[0], zone)
        parts = ("parseDateTime64BestEffortOrNull(", text, ", ", scale, ", ", zone, ")")
        return TrustedSQL(parts=parts, type=type_.or_null())
    return _sql(type_, "toDateTime64(", args[0], ", ", scale, ", ", zone, ")")


def _in_zone(function: str, leading: int, *, tail: str = "") -> Builder:
    """A function of ``leading`` arguments, then the time zone (default: the project's)."""

    def build(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
        parts: list[str | Expr] = [f"{function}("]
        for arg in args[:leading]:
            parts += [arg, ", "]
        return TrustedSQL(parts=(*parts, _zone(args, leading, context), f"){tail}"), type=type_)

    return build


def _between(function: str, middle: str) -> Builder:
    """A function of one argument, constants, and the time zone."""

    def build(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
        zone = _zone(args, 1, context)
        return _sql(type_, f"{function}(", _existing(args[0], zone), middle, zone, ")")

    return build


def _make_datetime(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    """``makeDateTime(2026, 1, 5, 10, 0, 0)``: without a fraction."""
    parts: list[str | Expr] = ["makeDateTime64("]
    for arg in args[:6]:
        parts += [arg, ", "]
    return TrustedSQL(parts=(*parts, "0, 0, ", _zone(args, 6, context), ")"), type=type_)


_BEST_EFFORT = _between("parseDateTime64BestEffortOrNull", ", 6, ")
_BEST_EFFORT_US = _between("parseDateTime64BestEffortUSOrNull", ", 6, ")
# Formats have no fraction of a second.
_PARSED = _in_zone("toDateTime64(parseDateTime64OrNull", 2, tail=", 0)")
_PARSED_JODA = _in_zone("toDateTime64(parseDateTime64InJodaSyntaxOrNull", 2, tail=", 0)")

CONVERSIONS: dict[str, Builder] = {
    **dict.fromkeys(("now", "now64", "nowInBlock", "current_timestamp"), _now),
    **dict.fromkeys(("today", "current_date", "curdate"), _today),
    "yesterday": _yesterday,
    **dict.fromkeys(("toDate", "date", "to_date", "toDate32", "toDateOrNull"), _to_date),
    **dict.fromkeys(("toDateTime", "timestamp", "toDateTimeOrNull"), _to_datetime),
    **dict.fromkeys(("toDateTime64", "toDateTime64OrNull"), _to_datetime64),
    "_toDateTime": _between("toDateTime64", ", 0, "),
    "_toDateTime64": _in_zone("toDateTime64", 2),
    **dict.fromkeys(
        (
            "parseDateTimeBestEffort",
            "parseDateTimeBestEffortOrNull",
            "parseDateTime64BestEffort",
            "parseDateTime64BestEffortOrNull",
        ),
        _BEST_EFFORT,
    ),
    **dict.fromkeys(("toDateTimeUS", "parseDateTimeBestEffortUS"), _BEST_EFFORT_US),
    **dict.fromkeys(("parseDateTime", "parseDateTimeOrNull", "str_to_date"), _PARSED),
    "parseDateTimeInJodaSyntax": _PARSED_JODA,
    **dict.fromkeys(
        ("fromUnixTimestamp", "to_timestamp", "from_unixtime"), _between("toDateTime64", ", 0, ")
    ),
    "fromUnixTimestamp64Milli": _in_zone("fromUnixTimestamp64Milli", 1),
    "fromUnixTimestamp64Micro": _in_zone("fromUnixTimestamp64Micro", 1),
    "fromUnixTimestamp64Nano": _in_zone("fromUnixTimestamp64Nano", 1),
    "toUnixTimestamp": unix_time,
    **dict.fromkeys(("makeDateTime", "make_timestamp", "make_timestamptz"), _make_datetime),
}
"""Merged into the table of ``special``."""
