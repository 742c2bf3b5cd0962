"""Values used as conditions: text of properties and numbers.

A property without the type Boolean is text, even when events send ``true`` and ``false``. As a
condition, a missing property is NULL, and ``false``, ``0`` and empty text are false. The engine
accepts neither text nor fractions as conditions.

Source: docs/spec/data-and-queries.md#24-what-the-type-does-to-queries
"""

from hoglet.hogql.functions import FunctionEntry
from hoglet.hogql.plan import FALSE, Expr, FunctionCall, LambdaExpr, Number, TrustedSQL
from hoglet.hogql.types import BOOLEAN, NUMBERS

_ALL = frozenset({"and", "or", "xor", "not"})
_FIRST = frozenset(
    {
        "if", "arrayFilter", "arrayExists", "arrayAll", "arrayCount", "arrayFirst", "arrayLast",
        "arrayFirstIndex", "arrayLastIndex", "arrayFirstOrNull", "arrayLastOrNull",
    }
)  # fmt: skip
"""Functions whose first argument is a condition, or a lambda that returns one."""

_STEPS = {"windowFunnel": 1, "sequenceMatch": 1, "sequenceCount": 1, "retention": 0}
"""Aggregates of conditions, and the index of the first one."""
_DEFAULTS = frozenset({"ifNull", "coalesce"})
"""Functions that mix text with a Boolean: ``ifNull(properties.beta, false)``."""


def as_condition(expr: Expr) -> Expr:
    """The truth of a property or a number; anything else is unchanged.

    Text that cannot be NULL is not a property: ``WHERE event`` stays an error.
    """
    if isinstance(expr, FunctionCall) and _has_default(expr):
        args = tuple(map(as_condition, expr.args))
        type_ = BOOLEAN.or_null(all(arg.type.nullable for arg in args))
        return FunctionCall(function=expr.function, args=args, type=type_)
    kind = expr.type
    if kind.name == "String" and kind.nullable:
        parts = ("if(isNull(", expr, "), NULL, lower(", expr, ") NOT IN ('', 'false', '0'))")
        return TrustedSQL(parts=parts, type=BOOLEAN.or_null())
    if kind.name in NUMBERS and not isinstance(expr, Number):
        zero = Number(text="0")
        type_ = BOOLEAN.or_null(kind.nullable)
        return FunctionCall(function="notEquals", args=(expr, zero), type=type_)
    return expr


def as_filter(condition: Expr) -> Expr:
    """A condition that decides which rows remain, where NULL means the same as false.

    Comparisons keep NULL there, without ``ifNull(…, 0)``: the engine reads less and knows more of
    an ``equals``. Only below AND and OR: ``not`` would turn NULL and false into different answers.
    """
    if isinstance(condition, FunctionCall) and condition.function in {"and", "or"}:
        args = tuple(map(as_filter, condition.args))
        nullable = any(arg.type.nullable for arg in args)
        return FunctionCall(function=condition.function, args=args, type=BOOLEAN.or_null(nullable))
    match condition:
        case TrustedSQL(parts=("ifNull(", Expr() as compared, *rest)) if rest in _OR_FALSE:
            return compared
        case _:
            return condition


_OR_FALSE = [[", 0)"], [", ", "0", ")"]]


def _has_default(expr: FunctionCall) -> bool:
    is_default = expr.function in _DEFAULTS
    return is_default and any(arg.type.name == "Boolean" for arg in expr.args)


def conditional_arguments(function: FunctionEntry, args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The arguments of a call, with those that are conditions replaced by their truth."""
    steps = _STEPS.get(function.clickhouse)
    if steps is not None:
        return (*args[:steps], *map(_or_false, args[steps:]))
    return tuple(
        [
            _returned(arg) if _is_condition(function, index, len(args)) else arg
            for index, arg in enumerate(args)
        ]
    )


def _is_condition(function: FunctionEntry, index: int, count: int) -> bool:
    name = function.clickhouse
    if function.aggregate:
        return name.endswith("If") and index == count - 1
    if name == "multiIf":
        return index % 2 == 0 and index < count - 1
    return name in _ALL or (name in _FIRST and index == 0)


def _or_false(arg: Expr) -> Expr:
    """A funnel step's condition with NULL as false; the engine skips rows where a step is NULL."""
    condition = as_condition(arg)
    if not condition.type.nullable:
        return condition
    return FunctionCall(function="ifNull", args=(condition, FALSE), type=BOOLEAN)


def _returned(arg: Expr) -> Expr:
    if not isinstance(arg, LambdaExpr):
        return as_condition(arg)
    body = as_condition(arg.body)
    return LambdaExpr(names=arg.names, body=body, type=body.type)
