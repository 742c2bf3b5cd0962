"""Functions with special handling: null-safe conversions, times in the project's time zone.

Each builder takes the resolved arguments and the type of the table's row, and returns the plan.

Source: docs/spec/query-endpoints.md#104-functions (differences from plain ClickHouse).
"""

from collections.abc import Callable
from datetime import UTC

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import near, refused
from hoglet.hogql.functions.date_parts import TIME_WINDOWS, date_part, to_char
from hoglet.hogql.functions.datetime_zone import (
    as_time,
    between,
    instant,
    moved,
    of_instants,
    unit_of,
    unix_time,
)
from hoglet.hogql.functions.registry import widest
from hoglet.hogql.functions.text_calls import TEXT_BUILDERS
from hoglet.hogql.functions.traffic import CHANNELS, TRAFFIC_BUILDERS
from hoglet.hogql.plan import Expr, FunctionCall, Number, TrustedSQL, Value
from hoglet.hogql.types import (
    DATE,
    DATETIME,
    FLOAT,
    INTEGER,
    INTERVAL,
    NUMBERS,
    STRING,
    TIMES,
    UNKNOWN,
    Type,
)

type Builder = Callable[[tuple[Expr, ...], Type, QueryContext], Expr]


def _sql(type_: Type, *parts: str | Expr) -> TrustedSQL:
    return TrustedSQL(parts=parts, type=type_)


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
    return _sql(DATE, f"toDate({_present(context)})")


def _yesterday(_args: tuple[Expr, ...], _type: Type, context: QueryContext) -> Expr:
    return _sql(DATE, f"toDate({_present(context)} - toIntervalDay(1))")


def _start_of_week(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    """Without a mode, weeks start on the project's ``week_start_day``; mode 3 means Monday."""
    if len(args) == 1 and context.week_start_day:
        args = (*args, Number(text="3", type=INTEGER))
    return FunctionCall(function="toStartOfWeek", args=args, type=type_)


def _zone(args: tuple[Expr, ...], index: int, context: QueryContext) -> str | Expr:
    return _optional(args, index, f"'{context.timezone}'")


def _optional(args: tuple[Expr, ...], index: int, default: str) -> str | Expr:
    return args[index] if len(args) > index else default


def _to_date(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    value = args[0]
    if len(args) == 2:
        return _sql(
            DATE.or_null(type_.nullable), "toDate(", as_time(value, context), ", ", args[1], ")"
        )
    if value.type.name in {"String", "JSON", "Null"}:
        parts = ("toDate(parseDateTime64BestEffortOrNull(", value, f", 6, '{context.timezone}'))")
        return TrustedSQL(parts=parts, type=type_)
    return FunctionCall(function="toDate", args=(value,), type=DATE.or_null(value.type.nullable))


def _to_datetime(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    value, zone = args[0], _zone(args, 1, context)
    if value.type.name in {"String", "JSON", "Null"}:
        return _sql(type_, "parseDateTime64BestEffortOrNull(", value, ", 6, ", zone, ")")
    type_ = DATETIME.or_null(value.type.nullable)
    if value.type.name == "DateTime":
        return value if len(args) == 1 else _sql(type_, "toTimeZone(", value, ", ", zone, ")")
    return _sql(type_, "toDateTime(", value, ", ", zone, ")")


def _to_datetime64(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    scale = _optional(args, 1, "6")
    zone = _zone(args, 2, context)
    if args[0].type.name == "String":
        return _sql(
            type_.or_null(),
            "parseDateTime64BestEffortOrNull(",
            args[0],
            ", ",
            scale,
            ", ",
            zone,
            ")",
        )
    return _sql(type_, "toDateTime64(", args[0], ", ", scale, ", ", zone, ")")


def _raw_datetime(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    return _sql(type_, "toDateTime(", args[0], ", ", _zone(args, 1, context), ")")


def _in_zone(function: str, leading: int) -> Builder:
    def build(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
        parts: list[str | Expr] = [f"{function}("]
        for arg in args[:leading]:
            parts += [arg, ", "]
        return TrustedSQL(parts=(*parts, _zone(args, leading, context), ")"), type=type_)

    return build


def _best_effort(function: str) -> Builder:
    def build(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
        return _sql(type_, f"{function}(", args[0], ", 6, ", _zone(args, 1, context), ")")

    return build


# Numbers that convert without loss need no NULL; others are NULL if they do not fit.
_ALWAYS_FITS = {"Int64": (INTEGER,), "Float64": (INTEGER, FLOAT)}


def _cast_or_null(target: str) -> Builder:
    def build(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
        value = args[0]
        if value.type.name in TIMES and target != "UUID":
            # toUnixTimestamp fails for timestamps before 1970 and after 2106.
            seconds = "toInt64" if value.type.name == "DateTime" else "toUnixTimestamp"
            return _sql(type_, f"to{target}({seconds}(", value, "))")
        if (
            target == "Float32" and value.type.name in NUMBERS
        ):  # rounds to the nearest float, as for 1.1
            return FunctionCall(
                function="toFloat32", args=(value,), type=FLOAT.or_null(value.type.nullable)
            )
        if value.type in _ALWAYS_FITS.get(target, ()):
            return FunctionCall(function=f"to{target}", args=(value,), type=type_.not_null())
        return _sql(type_, "accurateCastOrNull(", value, f", '{target}')")

    return build


def _to_decimal(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    given = args[-1]
    text = given.text if len(args) == 2 and isinstance(given, Number) else ""
    digits = int(text) if text.isdigit() else 10  # missing, or a variable without a value
    return _sql(type_, "accurateCastOrNull(", args[0], f", 'Decimal64({min(max(digits, 0), 18)})')")


def _if(args: tuple[Expr, ...], _type: Type, _context: QueryContext) -> Expr:
    return FunctionCall(function="if", args=args, type=widest((args[1].type, args[2].type)))


def _multi_if(args: tuple[Expr, ...], _type: Type, _context: QueryContext) -> Expr:
    results = [arg.type for arg in args[1::2]]
    if len(args) % 2:
        results.append(args[-1].type)
    return FunctionCall(function="multiIf", args=args, type=widest(results))


def _case(args: tuple[Expr, ...], _type: Type, _context: QueryContext) -> Expr:
    results = [*args[2::2], *([args[-1]] if len(args) % 2 == 0 else [])]
    type_ = widest(result.type for result in results)
    return FunctionCall(function="caseWithExpression", args=args, type=type_)


def _transform(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    """A missing value stays NULL or becomes the default; the engine would treat it as ``''``."""
    value = args[0]
    if len(args) == 3 and _holds_null(args[2]):  # only the form with a default accepts NULL
        args, type_ = (*args, value), type_.or_null()
    if not value.type.nullable:
        return FunctionCall(function="transform", args=args, type=type_)
    present = TrustedSQL(parts=("assumeNotNull(", value, ")"), type=value.type.not_null())
    known = FunctionCall(function="transform", args=(present, *args[1:]), type=type_)
    default = args[3] if len(args) == 4 else "NULL"
    return _sql(type_.or_null(), "if(isNull(", value, "), ", default, ", ", known, ")")


def _holds_null(items: Expr) -> bool:
    return items.type.item is not None and items.type.item.nullable


_DAYS_AND_MORE = frozenset({"week", "month", "quarter", "year"})


def _date_trunc(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    if len(args) == 3:
        at = as_time(args[1], context)
        args = (args[0], _sql(at.type, "toTimeZone(", instant(at, context), ", ", args[2], ")"))
    unit = str(args[0].value).lower() if isinstance(args[0], Value) else ""
    if unit in _DAYS_AND_MORE:
        return FunctionCall(function="dateTrunc", args=args, type=DATE.or_null(type_.nullable))
    at = instant(args[1], context)
    type_ = at.type if unit else UNKNOWN.or_null(at.type.nullable)
    return FunctionCall(function="dateTrunc", args=(args[0], at), type=type_)


def _start_of_interval(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    if unit_of(args[1]) in _DAYS_AND_MORE:
        type_ = DATE.or_null(type_.nullable)
    else:
        args = (instant(args[0], context), *args[1:])
    return FunctionCall(function="toStartOfInterval", args=args, type=type_)


def _of_instants(name: str) -> Builder:
    return lambda args, type_, context: of_instants(args, type_, context, name)


def _timezone(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    """PostgreSQL's ``timezone(zone, t)``; without arguments the project's time zone."""
    if len(args) < 2:
        return Value(value=context.timezone, bind="String", type=STRING)
    at = instant(as_time(args[1], context), context)
    return _sql(type_.not_null().or_null(at.type.nullable), "toTimeZone(", at, ", ", args[0], ")")


def _to_string(args: tuple[Expr, ...], type_: Type, context: QueryContext) -> Expr:
    """A timestamp can also be formatted in another time zone."""
    if len(args) == 2:
        args = (instant(as_time(args[0], context), context), args[1])
    return FunctionCall(function="toString", args=args, type=type_)


def _or_default(name: str) -> Builder:
    """The engine requires the default to be of exactly the target type."""

    def build(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
        target = name.removesuffix("OrDefault")
        defaults = [FunctionCall(function=target, args=(arg,), type=type_) for arg in args[1:]]
        return FunctionCall(function=name, args=(*args[:1], *defaults), type=type_)

    return build


def _contains(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    """Whether a string contains another, or a list another's elements consecutively."""
    if args[0].type.name != "String":
        return FunctionCall(function="hasSubstr", args=args, type=type_)
    return _sql(type_, "position(", args[0], ", ", args[1], ") > 0")


def _series(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    """Integers from the first to the second, which is included if a step reaches it exactly."""
    start, stop = args[:2]
    step: str | Expr = args[2] if len(args) == 3 else "1"
    wide = ("toInt64(", start, "), toInt64(", stop, ") + if(toInt64(", step, ") < 0, -1, 1)")
    return _sql(type_, "range(", *wide, ", toInt64(", step, "))")


def _between(name: str) -> Builder:
    return lambda args, type_, context: between(args, type_, context, name)


def _coalesce(args: tuple[Expr, ...], _type: Type, _context: QueryContext) -> Expr:
    nullable = all(arg.type.nullable for arg in args)
    type_ = widest(arg.type for arg in args)
    return FunctionCall(function="coalesce", args=args, type=type_.not_null().or_null(nullable))


def _if_null(args: tuple[Expr, ...], _type: Type, _context: QueryContext) -> Expr:
    type_ = widest((args[0].type, args[1].type)).not_null().or_null(args[1].type.nullable)
    return FunctionCall(function="ifNull", args=args, type=type_)


def _date_bin(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
    return _sql(type_, "toStartOfInterval(", args[1], ", ", args[0], ", ", args[2], ")")


_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond")


def _unit_of_shift(expr: Expr) -> str:
    if isinstance(expr, Number) and expr.text == "NULL":
        return "day"  # a variable without a value
    word = str(expr.value).lower() if isinstance(expr, Value) else ""
    for unit in (word, word.removesuffix("s")):
        if unit in _UNITS:
            return unit
    raise refused(f"Unknown unit of time: '{word}'.{near(word, _UNITS)}")


def _interval(unit: str, count: Expr) -> Expr:
    type_ = INTERVAL.or_null(count.type.nullable)
    return FunctionCall(function=f"toInterval{unit.title()}", args=(count,), type=type_)


def _shift(operator: str) -> Builder:
    def build(args: tuple[Expr, ...], _type: Type, context: QueryContext) -> Expr:
        at, step = args[0], args[1]
        if len(args) == 3:
            unit = _unit_of_shift(args[0])
            at, step = args[2], _interval(unit, args[1])
        at, step = moved(at, step, context)
        return FunctionCall(function=operator, args=(at, step), type=at.type)

    return build


# Dates would be midnight in the engine's time zone.
_NEED_INSTANTS = (
    "toStartOfDay",
    "toStartOfHour",
    "toStartOfMinute",
    "toStartOfFiveMinutes",
    "toStartOfTenMinutes",
    "toStartOfFifteenMinutes",
    "timeSlot",
    *(f"{word}{unit}" for word in ("add", "subtract") for unit in ("Hours", "Minutes", "Seconds")),
)

_BEST_EFFORT = _best_effort("parseDateTime64BestEffortOrNull")
_BEST_EFFORT_US = _best_effort("parseDateTime64BestEffortUSOrNull")

SPECIAL: dict[str, Builder] = {
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
    "parseDateTimeOrNull": _in_zone("parseDateTimeOrNull", 2),
    "str_to_date": _in_zone("parseDateTimeOrNull", 2),
    "parseDateTimeInJodaSyntax": _in_zone("parseDateTimeInJodaSyntaxOrNull", 2),
    "from_unixtime": _in_zone("toDateTime", 1),
    "to_date": _to_date,
    "curdate": _today,
    "make_timestamptz": _in_zone("makeDateTime", 6),
    "timezone": _timezone,
    "time_bucket": _start_of_interval,
    "timestampDiff": _between("dateDiff"),
    "date_subtract": _shift("minus"),
    "toString": _to_string,
    "toNullableString": _cast_or_null("String"),
    "_toNullableBool": _cast_or_null("Bool"),
    "indexHint": lambda _args, type_, _context: Number(text="1", type=type_),
    "generateSeries": _series,
    "generate_series": _series,
    **{name: _of_instants(name) for name in _NEED_INSTANTS},
    "dateDiff": _between("dateDiff"),
    "date_diff": _between("dateDiff"),
    "datediff": _between("dateDiff"),
    "age": _between("age"),
    "toUnixTimestamp": unix_time,
    "makeDateTime": _in_zone("makeDateTime", 6),
    "make_timestamp": _in_zone("makeDateTime", 6),
    "now": _now,
    "now64": _now,
    "nowInBlock": _now,
    "current_timestamp": _now,
    "today": _today,
    "current_date": _today,
    "yesterday": _yesterday,
    "toDate": _to_date,
    "date": _to_date,
    "timestamp": _to_datetime,
    "caseWithExpression": _case,
    "_caseWithExpression": _case,
    "dateTrunc": _date_trunc,
    "date_trunc": _date_trunc,
    "toStartOfInterval": _start_of_interval,
    "toStartOfWeek": _start_of_week,
    "toDateTime": _to_datetime,
    "toDateTime64": _to_datetime64,
    "toDateTime64OrNull": _to_datetime64,
    "_toDateTime": _raw_datetime,
    "_toDateTime64": _in_zone("toDateTime64", 2),
    "toDateOrNull": _to_date,
    "toDateTimeOrNull": _to_datetime,
    "parseDateTime": _in_zone("parseDateTimeOrNull", 2),
    "fromUnixTimestamp": _in_zone("toDateTime", 1),
    "to_timestamp": _in_zone("toDateTime", 1),
    "fromUnixTimestamp64Milli": _in_zone("fromUnixTimestamp64Milli", 1),
    "fromUnixTimestamp64Micro": _in_zone("fromUnixTimestamp64Micro", 1),
    "fromUnixTimestamp64Nano": _in_zone("fromUnixTimestamp64Nano", 1),
    "toInt": _cast_or_null("Int64"),
    "toInteger": _cast_or_null("Int64"),
    "toInt8": _cast_or_null("Int8"),
    "toInt16": _cast_or_null("Int16"),
    "toInt32": _cast_or_null("Int32"),
    "toInt64": _cast_or_null("Int64"),
    **{f"to{wide}": _cast_or_null(wide) for wide in ("Int128", "Int256", "UInt128", "UInt256")},
    "toFloat": _cast_or_null("Float64"),
    "toFloat32": _cast_or_null("Float32"),
    "toFloat64": _cast_or_null("Float64"),
    "toUUID": _cast_or_null("UUID"),
    "toDecimal": _to_decimal,
    "if": _if,
    "multiIf": _multi_if,
    "transform": _transform,
    "coalesce": _coalesce,
    "contains": _contains,
    "toFloatOrDefault": _or_default("toFloat64OrDefault"),
    "toFloat64OrDefault": _or_default("toFloat64OrDefault"),
    "toInt64OrDefault": _or_default("toInt64OrDefault"),
    "ifNull": _if_null,
    "nvl": _if_null,
    "date_part": date_part,
    "date_bin": _date_bin,
    "to_char": to_char,
    "dateAdd": _shift("plus"),
    "date_add": _shift("plus"),
    "timestampAdd": _shift("plus"),
    "addDate": _shift("plus"),
    "dateSub": _shift("minus"),
    "date_sub": _shift("minus"),
    "timestampSub": _shift("minus"),
    "subDate": _shift("minus"),
    **CHANNELS,
    **TEXT_BUILDERS,
    **TIME_WINDOWS,
    **TRAFFIC_BUILDERS,
}
