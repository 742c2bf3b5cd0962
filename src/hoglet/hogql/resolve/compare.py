"""Comparisons, null-safe: a comparison with NULL is false, its negation true, never NULL.

``=`` between a text property and a number compares numbers, with a boolean compares its text, and
a text constant beside a date is read as a date in the project's time zone.

Source: docs/spec/query-endpoints.md#104-functions,
docs/spec/hog-functions.md#53-run-time-truth-and-nulls.
"""

import math
from typing import TYPE_CHECKING, Any

from hoglet.hogql.comparisons import COMPARISONS
from hoglet.hogql.errors import refused
from hoglet.hogql.plan import (
    FALSE,
    TRUE,
    Apply,
    Expr,
    Name,
    Number,
    ScalarQuery,
    Trusted,
    Value,
)
from hoglet.hogql.resolve.scope import Scope
from hoglet.hogql.resolve.sources import TableSource
from hoglet.hogql.types import (
    BOOLEAN,
    DATE,
    DATETIME,
    FLOAT,
    NUMBERS,
    STRING,
    TIMES,
)
from hoglet.syntax import tree

if TYPE_CHECKING:
    from hoglet.hogql.resolve.resolver import Resolver

_FUNCTIONS = COMPARISONS | {
    "global in": "in",
    "global not in": "notIn",
    "=~": "match",
    "!~": "match",
    "=~*": "match",
    "!~*": "match",
}
_NEGATIVE = frozenset({"!=", "not like", "not ilike", "not in", "global not in", "!~", "!~*"})


def resolve_compare(resolver: "Resolver", node: tree.CompareOperation, scope: Scope) -> Expr:
    """``left op right``."""
    if node.op in {"in cohort", "not in cohort"}:
        return _cohort(resolver, node, scope)
    left = resolver.expression(node.left, scope)
    right = resolver.expression(node.right, scope)
    if resolver.context.timezone != "UTC" and node.op in _ORDER:
        left, right = _stored_times(left, right, scope), _stored_times(right, left, scope)
    return compare(node.op, left, right, resolver.context.timezone, node)


_ORDER = frozenset({"==", "!=", "<", "<=", ">", ">="})


def _is_instant(expr: Expr) -> bool:
    return expr.type.name == "DateTime" or isinstance(expr, Value)


def _stored_times(expr: Expr, other: Expr, scope: Scope) -> Expr:
    """A time column as it is stored, where the other side is an instant too."""
    if not _is_instant(other) or expr.type.name != "DateTime" or not isinstance(expr, Name):
        return expr
    for source in scope.sources.values():
        if source.alias == expr.source and isinstance(source, TableSource):
            return source.untouched(expr)
    return expr


def compare(operator: str, left: Expr, right: Expr, timezone: str, node: Any = None) -> Expr:
    """The plan of a comparison between two resolved sides."""
    if operator not in _FUNCTIONS:
        raise refused(f"Operator {operator} is not supported in queries", node)
    if operator in {"in", "not in", "global in", "global not in"}:
        return _membership(operator, left, right, timezone)
    if _is_null(right) or _is_null(left):
        return _compare_null(operator, left, right)
    given = (left, right)
    if operator in {"==", "!=", "<", "<=", ">", ">="}:
        left, right = _align(left, right, timezone)
    elif left.type.name in {"UUID", *NUMBERS, *TIMES, "Boolean"}:
        left = _text(left)
    return _null_safe(operator, left, right, given)


def _is_null(expr: Expr) -> bool:
    return isinstance(expr, Number) and expr.text == "NULL"


def _compare_null(operator: str, left: Expr, right: Expr) -> Expr:
    value = left if _is_null(right) else right
    if operator == "==":
        return Apply(function="isNull", args=(value,), type=BOOLEAN)
    if operator == "!=":
        return Apply(function="isNotNull", args=(value,), type=BOOLEAN)
    return TRUE if operator in _NEGATIVE else FALSE


def _null_safe(
    operator: str, left: Expr, right: Expr, given: tuple[Expr, Expr] | None = None
) -> Expr:
    """The comparison; ``given`` are the sides before text became a number or a time.

    Text that is no number is NULL as a number, but it is not equal to a missing one.
    """
    one, two = given or (left, right)
    function = _FUNCTIONS[operator]
    if operator.endswith("~*"):
        right = Apply(function="concat", args=(Trusted(parts=("'(?i)'",)), right), type=STRING)
    nullable = left.type.nullable or right.type.nullable
    plain: Expr = Apply(function=function, args=(left, right), type=BOOLEAN.or_null(nullable))
    if operator.startswith("!~"):
        plain = Apply(function="not", args=(plain,), type=plain.type)
    if not nullable:
        return plain
    if one.type.nullable and two.type.nullable and operator in {"==", "!="}:
        joiner = ("isNull(", one, ") AND isNull(", two, ")")
        if operator == "!=":
            joiner = ("isNotNull(", one, ") OR isNotNull(", two, ")")
        return Trusted(parts=("ifNull(", plain, ", ", *joiner, ")"), type=BOOLEAN)
    fallback = "1" if operator in _NEGATIVE else "0"
    return Trusted(parts=("ifNull(", plain, f", {fallback})"), type=BOOLEAN)


def _align(  # noqa: PLR0911 (one return a pair of types)
    left: Expr, right: Expr, timezone: str
) -> tuple[Expr, Expr]:
    """Both sides of one kind."""
    one, two = left.type.name, right.type.name
    if one == two:
        return left, right
    if {one, two} == {"Float", "Integer"}:
        return _as_float(left), _as_float(right)
    if one in TIMES and two == "String":
        return left, _as_time(right, one, timezone)
    if two in TIMES and one == "String":
        return _as_time(left, two, timezone), right
    if one == "String" and two in NUMBERS:
        return _number(left), right
    if two == "String" and one in NUMBERS:
        return left, _number(right)
    if "Boolean" in {one, two} and "String" in {one, two}:
        return _text(left), _text(right)
    if "UUID" in {one, two} and not isinstance(left, Value) and not isinstance(right, Value):
        return (_text(left), _text(right)) if "String" in {one, two} else (left, right)
    return left, right


def _as_time(expr: Expr, target: str, timezone: str) -> Expr:
    orphan = "" if isinstance(expr, Value) else "OrNull"
    parsed = Trusted(
        parts=(f"parseDateTime64BestEffort{orphan}(", expr, f", 6, '{timezone}')"),
        type=DATETIME.or_null(bool(orphan)),
    )
    if target == "DateTime" or not isinstance(expr, Value):
        return parsed
    return (
        parsed
        if len(str(expr.value)) > len("2026-01-05")
        else Apply(function="toDate", args=(parsed,), type=DATE)
    )


_EXACT = 2**53


def _as_float(expr: Expr) -> Expr:
    """A whole number beyond what a float keeps apart, as the float that it is stored as."""
    if not isinstance(expr, Number) or not expr.text.lstrip("-").isdigit():
        return expr
    value = int(expr.text)
    return expr if abs(value) <= _EXACT else Number(text=repr(float(value)), type=FLOAT)


def _number(expr: Expr) -> Expr:
    parts = ("accurateCastOrNull(", expr, ", 'Float64')")
    return Trusted(parts=parts, type=FLOAT.or_null())


def _text(expr: Expr) -> Expr:
    if expr.type.name == "String":
        return expr
    return Apply(function="toString", args=(expr,), type=STRING.or_null(expr.type.nullable))


def _membership(operator: str, left: Expr, right: Expr, timezone: str) -> Expr:
    negative = operator in _NEGATIVE
    if _is_null(right):
        return Apply(function="isNotNull" if negative else "isNull", args=(left,), type=BOOLEAN)
    if isinstance(right, Value) and right.bind.startswith("Array("):
        left = _text(left)
    elif isinstance(right, Apply) and right.function in {"array", "tuple"}:
        if not right.args:
            return TRUE if negative else FALSE
        right = _aligned_list(left, right, timezone)
        if left.type.name == "Boolean" and isinstance(right, Apply):
            left = _text(left) if any(arg.type.name == "String" for arg in right.args) else left
    elif not isinstance(right, ScalarQuery) and right.type.name != "Array":
        items: Expr = Apply(function="tuple", args=(right,))
        right = _aligned_list(left, items, timezone) if right.type.name != "Tuple" else right
    elif right.type.name == "Array" and not isinstance(right, Apply | ScalarQuery | Value):
        return _has(right, left, negative)
    return _null_safe(operator, left, right)


def _has(array: Expr, item: Expr, negative: bool) -> Expr:  # noqa: FBT001 (one caller)
    found = Apply(function="has", args=(array, item), type=BOOLEAN)
    return Apply(function="not", args=(found,), type=BOOLEAN) if negative else found


def _aligned_list(left: Expr, right: Expr, timezone: str) -> Expr:
    """The list with its items converted to what the left side holds."""
    assert isinstance(right, Apply)  # noqa: S101 (both callers made it)
    items = tuple(item for item in right.args if not _is_null(item))
    if left.type.name in NUMBERS:
        items = tuple(each for item in items if (each := _number_in_list(item)) is not None)
    elif left.type.name == "Boolean" and any(item.type.name == "String" for item in items):
        items = tuple(_text(item) for item in items)
    elif left.type.name == "String":
        items = tuple(_text(item) if item.type.name != "Unknown" else item for item in items)
    elif left.type.name in TIMES:
        items = tuple(
            _as_time(item, left.type.name, timezone) if item.type.name == "String" else item
            for item in items
        )
    return Apply(function="tuple", args=items, type=right.type) if items else _none(right)


def _number_in_list(item: Expr) -> Expr | None:
    """Text as a number; None for text that is none, which no number is equal to."""
    if item.type.name != "String":
        return item
    if not isinstance(item, Value):
        return _number(item)
    try:
        number = float(str(item.value))
    except ValueError:
        return None
    return Number(text=repr(number), type=FLOAT) if math.isfinite(number) else None


def _none(right: Expr) -> Expr:
    """A list of NULLs only: nothing is in it."""
    return Apply(function="tuple", args=(Number(text="NULL"),), type=right.type)


def _cohort(resolver: "Resolver", node: tree.CompareOperation, scope: Scope) -> Expr:
    if _cohort_is_null(resolver, node.right):
        return FALSE if node.op == "in cohort" else TRUE
    cohort = tree.CompareOperation(left=tree.Field(chain=("cohort_id",)), right=node.right, op="==")
    people = tree.SelectQuery(
        select=(tree.Field(chain=("person_id",)),),
        select_from=tree.JoinExpr(table=tree.Field(chain=("cohort_people",))),
        where=cohort,
    )
    operator = "in" if node.op == "in cohort" else "not in"
    left = resolver.expression(node.left, scope)
    return _null_safe(operator, left, ScalarQuery(query=resolver.query(people, scope)))


def _cohort_is_null(resolver: "Resolver", node: Any) -> bool:
    """Whether no cohort is named, which a variable without a value is."""
    bound = resolver.binder.expand(node) if isinstance(node, tree.Placeholder) else node
    value = getattr(bound, "value", None)
    if isinstance(bound, tree.Constant) and value is None:
        return True
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if not is_number and not (isinstance(value, str) and value.strip().isdigit()):
        raise refused("IN COHORT needs the id of a cohort: cohorts have no names here", node)
    return False


def resolve_between(resolver: "Resolver", node: tree.BetweenExpr, scope: Scope) -> Expr:
    """``expr BETWEEN low AND high``, both inclusive."""
    timezone = resolver.context.timezone
    value = resolver.expression(node.expr, scope)
    ends = (resolver.expression(node.low, scope), resolver.expression(node.high, scope))
    if timezone != "UTC" and all(_is_instant(end) for end in ends):
        value = _stored_times(value, ends[0], scope)
    low = compare(">=", value, ends[0], timezone, node)
    high = compare("<=", value, ends[1], timezone, node)
    inside = Apply(function="and", args=(low, high), type=BOOLEAN)
    return Apply(function="not", args=(inside,), type=BOOLEAN) if node.negated else inside


def resolve_distinct_from(resolver: "Resolver", node: tree.IsDistinctFrom, scope: Scope) -> Expr:
    """``left IS [NOT] DISTINCT FROM right``: here the same as null-safe ``!=`` and ``=``."""
    left = resolver.expression(node.left, scope)
    right = resolver.expression(node.right, scope)
    return compare("==" if node.negated else "!=", left, right, resolver.context.timezone, node)
