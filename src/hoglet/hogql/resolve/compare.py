"""Null-safe comparisons: a comparison with NULL is false, its negation true.

``=`` between a text property and a number compares numbers, with a boolean its text; a string
compared with a date is parsed in the project's time zone.

Source: docs/spec/data-and-queries.md#71-concatenation-and-comparisons-with-null,
docs/spec/query-endpoints.md#104-functions.
"""

from typing import Any

from hoglet.hogql.comparison_operators import COMPARISONS
from hoglet.hogql.errors import refused
from hoglet.hogql.filters.cohorts import find_cohort
from hoglet.hogql.plan import (
    Expr,
    FunctionCall,
    Name,
    ScalarQuery,
    TrustedSQL,
    Value,
)
from hoglet.hogql.resolve.operands.alignment import (
    ALWAYS,
    NEVER,
    align,
    is_null,
    may_hold_null,
    text_of,
)
from hoglet.hogql.resolve.operands.membership import (
    is_in,
    is_in_plain,
    is_tuple,
    negated,
    refuse_other_width,
)
from hoglet.hogql.resolve.operands.patterns import OPERATORS, check_pattern
from hoglet.hogql.resolve.operands.time_texts import refuse_no_times
from hoglet.hogql.resolve.property_text import compared, split_list
from hoglet.hogql.resolve.resolver import Resolver
from hoglet.hogql.resolve.scope import Scope
from hoglet.hogql.resolve.subqueries import refuse_correlated
from hoglet.hogql.resolve.table_source import TableSource
from hoglet.hogql.types import BOOLEAN, STRING
from hoglet.syntax import tree

_FUNCTIONS = COMPARISONS | {
    "global in": "in",
    "global not in": "notIn",
    "=~": "match",
    "!~": "match",
    "=~*": "match",
    "!~*": "match",
}
_NEGATIVE = frozenset({"!=", "not like", "not ilike", "not in", "global not in", "!~", "!~*"})


def resolve_compare(resolver: Resolver, node: tree.CompareOperation, scope: Scope) -> Expr:
    """``left op right``."""
    if node.op in {"in cohort", "not in cohort"}:
        return _cohort(resolver, node, scope)
    left = resolver.expression(node.left, scope)
    right = resolver.expression(_members(node, scope), scope)
    if resolver.context.timezone != "UTC" and node.op in _ORDER:
        left, right = _stored_times(left, right, scope), _stored_times(right, left, scope)
    if node.is_null_comparison_style and is_null(right):
        return _compare_null(node.op, left, right)
    return compare_resolved(resolver, node.op, left, right, scope, node)


def _members(node: tree.CompareOperation, scope: Scope) -> tree.Expression:
    """The right side; ``x IN buyers`` of a CTE is ``x IN (SELECT * FROM buyers)``, as in SQL."""
    right = node.right
    if node.op not in _MEMBERSHIP or not isinstance(right, tree.Field) or len(right.chain) != 1:
        return right
    name = str(right.chain[0])
    if scope.cte(name) is None or scope.knows(name):
        return right
    table = tree.JoinExpr(table=right, start=right.start, end=right.end)
    return tree.SelectQuery(
        select=(tree.Field(chain=("*",)),), select_from=table, start=right.start, end=right.end
    )


def compare_resolved(  # noqa: PLR0917 (as compare, plus the resolver)
    resolver: Resolver, operator: str, left: Expr, right: Expr, scope: Scope, node: Any
) -> Expr:
    """The plan of a comparison; properties are compared with strings as they were sent."""
    zone, plain = resolver.context.timezone, scope.plain_nulls
    if operator in _MEMBERSHIP:
        refuse_correlated(right, getattr(node, "right", node))
    if operator in OPERATORS:
        check_pattern(right, getattr(node, "right", node))
    lists = split_list(left, right, scope) if operator in _MEMBERSHIP else None
    if lists is not None:
        comparisons = [compare(operator, *sides, zone, node, plain=plain) for sides in lists]
        if len(comparisons) == 1:
            return comparisons[0]
        joined = "and" if operator in _NEGATIVE else "or"
        nullable = any(each.type.nullable for each in comparisons)
        return FunctionCall(
            function=joined, args=tuple(comparisons), type=BOOLEAN.or_null(nullable)
        )
    left, right = compared(operator, left, right, scope)
    return compare(operator, left, right, zone, node, plain=plain)


_LESS_OR_GREATER = frozenset({"<", "<=", ">", ">="})
_ORDER = _LESS_OR_GREATER | {"==", "!="}
_MEMBERSHIP = frozenset({"in", "not in", "global in", "global not in"})


def _is_instant(expr: Expr) -> bool:
    return expr.type.name == "DateTime" or isinstance(expr, Value)


def _stored_times(expr: Expr, other: Expr, scope: Scope) -> Expr:
    """A time column as stored, if the other side is a timestamp too."""
    if not _is_instant(other) or expr.type.name != "DateTime" or not isinstance(expr, Name):
        return expr
    for source in scope.sources.values():
        if source.alias == expr.source and isinstance(source, TableSource):
            return source.untouched(expr)
    return expr


def compare(
    operator: str, left: Expr, right: Expr, timezone: str, node: Any = None, *, plain: bool = False
) -> Expr:
    """The plan of a comparison between two resolved sides.

    ``plain`` keeps NULL as in standard SQL, for ``JOIN ... ON``.
    """
    if operator not in _FUNCTIONS:
        raise refused(f"Operator {operator} is not supported in queries", node)
    if operator in _ORDER or operator in _MEMBERSHIP:
        refuse_no_times(left, right, node)
    if operator in _MEMBERSHIP:
        refuse_other_width(left, right, node)
        return _membership(operator, left, right, timezone, plain=plain)
    if (is_null(right) or is_null(left)) and not plain:
        return _compare_null(operator, left, right)
    if operator in {"==", "!="} and not plain and is_tuple(left) and is_tuple(right):
        equal = _equal_tuples(left, right, timezone)
        if equal is not None:
            return negated(equal) if operator == "!=" else equal
    given = (left, right)
    if operator in _ORDER:
        left, right = align(left, right, timezone)
    else:
        left, right = _as_text(left), _as_text(right)
    return _null_safe(operator, _applied(operator, left, right), given, plain=plain)


def _equal_tuples(left: FunctionCall, right: FunctionCall, timezone: str) -> Expr | None:
    """The equality of tuples part by part, if NULL matters in them."""
    pairs = list(zip(left.args, right.args, strict=False))
    nullable = any(may_hold_null(part) or is_tuple(part) for pair in pairs for part in pair)
    if len(left.args) != len(right.args) or not nullable:
        return None
    parts = tuple([compare("==", first, second, timezone) for first, second in pairs])
    return FunctionCall(function="and", args=(ALWAYS, *parts), type=BOOLEAN)


def _as_text(expr: Expr) -> Expr:
    """A side of LIKE: non-strings are converted, lists are rejected by the engine."""
    return expr if expr.type.name in _TEXT_OR_MANY else text_of(expr)


_TEXT_OR_MANY = frozenset({"String", "JSON", "Array", "Tuple", "Map", "Null"})


def _compare_null(operator: str, left: Expr, right: Expr) -> Expr:
    """A comparison with a literal NULL."""
    value = left if is_null(right) else right
    if operator in _LESS_OR_GREATER:
        return NEVER
    function = "isNotNull" if operator in _NEGATIVE else "isNull"
    return FunctionCall(function=function, args=(value,), type=BOOLEAN)


def _applied(operator: str, left: Expr, right: Expr) -> Expr:
    """The engine's own comparison: NULL if either side is NULL."""
    if operator.endswith("~*"):
        right = FunctionCall(
            function="concat", args=(TrustedSQL(parts=("'(?i)'",)), right), type=STRING
        )
    type_ = BOOLEAN.or_null(left.type.nullable or right.type.nullable)
    plain: Expr = FunctionCall(function=_FUNCTIONS[operator], args=(left, right), type=type_)
    if operator.startswith("!~"):
        return FunctionCall(function="not", args=(plain,), type=type_)
    return plain


def _null_safe(operator: str, compared: Expr, given: tuple[Expr, Expr], *, plain: bool) -> Expr:
    """The null-safe comparison; ``given`` are the sides before conversion.

    A non-numeric string is NULL as a number, but is not equal to a missing value.
    """
    item, two = given
    may_be_null = compared.type.nullable or may_hold_null(item) or may_hold_null(two)
    if plain or not may_be_null:
        return compared
    fallback: tuple[str | Expr, ...] = ("1" if operator in _NEGATIVE else "0",)
    if operator not in _LESS_OR_GREATER and may_hold_null(item) and may_hold_null(two):
        fallback = ("isNull(", item, ") AND isNull(", two, ")")
        if operator in _NEGATIVE:
            fallback = ("isNotNull(", item, ") OR isNotNull(", two, ")")
    return TrustedSQL(parts=("ifNull(", compared, ", ", *fallback, ")"), type=BOOLEAN)


def _membership(operator: str, left: Expr, right: Expr, timezone: str, *, plain: bool) -> Expr:
    if plain:
        condition = is_in_plain(left, right, timezone)
    else:
        condition = is_in(
            left, right, timezone, lambda first, second: compare("==", first, second, timezone)
        )
    return negated(condition) if operator in _NEGATIVE else condition


def _cohort(resolver: Resolver, node: tree.CompareOperation, scope: Scope) -> Expr:
    cohort_id = _cohort_named(resolver, node.right)
    if cohort_id is None:
        return NEVER if node.op == "in cohort" else ALWAYS
    right = tree.Constant(value=cohort_id)
    cohort = tree.CompareOperation(left=tree.Field(chain=("cohort_id",)), right=right, op="==")
    persons = tree.SelectQuery(
        select=(tree.Field(chain=("person_id",)),),
        select_from=tree.JoinExpr(table=tree.Field(chain=("cohort_people",))),
        where=cohort,
    )
    left = resolver.expression(node.left, scope)
    listed = ScalarQuery(query=resolver.query(persons, scope))
    return compare(node.op.removesuffix(" cohort"), left, listed, resolver.context.timezone, node)


def _cohort_named(resolver: Resolver, node: Any) -> int | None:
    """The id of the cohort; None for a variable without a value."""
    bound = resolver.binder.expand(node) if isinstance(node, tree.Placeholder) else node
    value = getattr(bound, "value", None)
    if isinstance(bound, tree.Constant) and value is None:
        return None
    if not isinstance(bound, tree.Constant) or isinstance(value, bool | float):
        raise refused("IN COHORT needs the id or the name of a cohort", node)
    return find_cohort(value, resolver.context, node)


def resolve_between(resolver: Resolver, node: tree.BetweenExpr, scope: Scope) -> Expr:
    """``expr BETWEEN low AND high``, both inclusive."""
    timezone = resolver.context.timezone
    value = resolver.expression(node.expr, scope)
    ends = (resolver.expression(node.low, scope), resolver.expression(node.high, scope))
    if timezone != "UTC" and all(_is_instant(end) for end in ends):
        value = _stored_times(value, ends[0], scope)
    plain = scope.plain_nulls
    low = compare(">=", value, ends[0], timezone, node, plain=plain or node.negated)
    high = compare("<=", value, ends[1], timezone, node, plain=plain or node.negated)
    nullable = low.type.nullable or high.type.nullable
    inside = FunctionCall(function="and", args=(low, high), type=BOOLEAN.or_null(nullable))
    if not node.negated:
        return inside
    if plain or not (nullable or any(map(may_hold_null, (value, *ends)))):
        return FunctionCall(function="not", args=(inside,), type=inside.type)
    # A NULL anywhere makes it false; ``not(... and ...)`` would be true if one bound excludes.
    return TrustedSQL(parts=("ifNull(", low, " + ", high, " < 2, 0)"), type=BOOLEAN)


def resolve_distinct_from(resolver: Resolver, node: tree.IsDistinctFrom, scope: Scope) -> Expr:
    """``left IS [NOT] DISTINCT FROM right``: equivalent to null-safe ``!=`` and ``=``."""
    left = resolver.expression(node.left, scope)
    right = resolver.expression(node.right, scope)
    if node.negated and scope.plain_nulls:
        left, right = align(left, right, resolver.context.timezone)
        return FunctionCall(function="isNotDistinctFrom", args=(left, right), type=BOOLEAN)
    left, right = compared("==", left, right, scope)
    return compare("==" if node.negated else "!=", left, right, resolver.context.timezone, node)
