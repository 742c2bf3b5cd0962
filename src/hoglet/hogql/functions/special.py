"""Functions with special handling: null-safe conversions, times in the project's time zone.

Each builder takes the resolved arguments and the type of the table's row, and returns the plan.

Source: docs/spec/query-endpoints.md#104-functions (differences from plain ClickHouse).
"""

from collections.abc import Callable

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import near, refused
from hoglet.hogql.functions.date_buckets import BUCKETS
from hoglet.hogql.functions.date_conversions import CONVERSIONS
from hoglet.hogql.functions.date_parts import TIME_WINDOWS, date_part, to_char
from hoglet.hogql.functions.datetime_zone import (
    as_time,
    between,
    instant,
    moved,
)
from hoglet.hogql.functions.registry import widest
from hoglet.hogql.functions.text_calls import TEXT_BUILDERS
from hoglet.hogql.functions.traffic import CHANNELS, TRAFFIC_BUILDERS
from hoglet.hogql.plan import Expr, FunctionCall, Number, TrustedSQL, Value
from hoglet.hogql.types import (
    FLOAT,
    INTEGER,
    INTERVAL,
    NUMBERS,
    STRING,
    TIMES,
    Type,
)

type Builder = Callable[[tuple[Expr, ...], Type, QueryContext], Expr]


def _sql(type_: Type, *parts: str | Expr) -> TrustedSQL:
    return TrustedSQL(parts=parts, type=type_)


# Numbers that convert without loss need no NULL; others are NULL if they do not fit.
_ALWAYS_FITS = {"Int64": (INTEGER,), "Float64": (INTEGER, FLOAT)}


def _cast_or_null(target: str) -> Builder:
    def build(args: tuple[Expr, ...], type_: Type, _context: QueryContext) -> Expr:
        value = args[0]
        if value.type.name in TIMES and target != "UUID":
            # toUnixTimestamp fails for timestamps before 1970 and after 2106.
            if value.type.name == "Date":
                value = _sql(value.type, "toDateTime64(", value, ", 0, 'UTC')")
            return _sql(type_, f"to{target}(toInt64(", value, "))")
        if (
            target == "Float32" and value.type.name in NUMBERS
        ):  # rounds to the nearest float, as for 1.1
            return FunctionCall(
                function="toFloat32", args=(value,), type=FLOAT.or_null(value.type.nullable)
            )
        if value.type in _ALWAYS_FITS.get(target, ()):
            return FunctionCall(function=f"to{target}", args=(value,), type=type_.not_null())
        if target == "Float64" and value.type.not_null() in _ALWAYS_FITS[target]:
            return FunctionCall(function="toFloat64", args=(value,), type=type_)
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


SPECIAL: dict[str, Builder] = {
    "timezone": _timezone,
    "timestampDiff": _between("dateDiff"),
    "date_subtract": _shift("minus"),
    "toString": _to_string,
    "toNullableString": _cast_or_null("String"),
    "_toNullableBool": _cast_or_null("Bool"),
    "indexHint": lambda _args, type_, _context: Number(text="1", type=type_),
    "generateSeries": _series,
    "generate_series": _series,
    "dateDiff": _between("dateDiff"),
    "date_diff": _between("dateDiff"),
    "datediff": _between("dateDiff"),
    "age": _between("age"),
    "caseWithExpression": _case,
    "_caseWithExpression": _case,
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
    "toIntOrDefault": _or_default("toInt64OrDefault"),
    "ifNull": _if_null,
    "nvl": _if_null,
    "date_part": date_part,
    "to_char": to_char,
    "dateAdd": _shift("plus"),
    "date_add": _shift("plus"),
    "timestampAdd": _shift("plus"),
    "addDate": _shift("plus"),
    "dateSub": _shift("minus"),
    "date_sub": _shift("minus"),
    "timestampSub": _shift("minus"),
    "subDate": _shift("minus"),
    **BUCKETS,
    **CHANNELS,
    **CONVERSIONS,
    **TEXT_BUILDERS,
    **TIME_WINDOWS,
    **TRAFFIC_BUILDERS,
}
