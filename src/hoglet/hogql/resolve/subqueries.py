"""Subqueries as values, including correlated ones, which read a row of the outer query.

``(SELECT count() FROM events f WHERE f.person_id = e.person_id)`` is computed for all rows at once:
the engine turns it into a join. It cannot do so after IN, in FROM, in unions and with LIMIT, nor in
GROUP BY and ORDER BY, and it loses rows in which a column of the outer query is NULL. So a value is
computed in a query below the outer one, which also splits such columns (``OuterRows``), and the
first row of an order becomes an aggregate.
"""

from collections.abc import Iterator
from typing import Any, TypeGuard

import msgspec

from hoglet.hogql import types
from hoglet.hogql.errors import refused
from hoglet.hogql.plan import (
    Expr,
    FunctionCall,
    Number,
    Relation,
    ScalarQuery,
    Select,
    TrustedSQL,
    column_types,
)
from hoglet.hogql.resolve.resolver import Resolver
from hoglet.hogql.resolve.scope import Scope
from hoglet.syntax import tree

_ZERO_OF_NOTHING = ("count", "uniq", "sum")
"""Aggregates that are 0 without rows, where a join without a match gives NULL."""


def resolve_subquery(resolver: Resolver, node: Any, scope: Scope) -> Expr:
    """``(SELECT ...)`` as a value."""
    query, reads = _resolved(resolver, node, scope)
    if not reads:
        return query
    relation = query.query
    if isinstance(relation, Select) and relation.limit is not None:
        relation = _first_row(relation, node)
        query = msgspec.structs.replace(query, query=relation)
    value: Expr = query
    if _aggregates_whole(relation):
        value = _zero_without_rows(query, relation.columns[0][1], node)
    return scope.below(value, reads)


def resolve_exists(resolver: Resolver, node: Any, scope: Scope) -> Expr:
    """``EXISTS (SELECT ...)``."""
    if not isinstance(node.args[0], tree.SelectQuery | tree.SelectSetQuery):
        raise refused("EXISTS needs a query", node)
    query, reads = _resolved(resolver, node.args[0], scope)
    exists = FunctionCall(function="exists", args=(query,), type=types.BOOLEAN)
    return scope.below(exists, reads) if reads else exists


def _resolved(resolver: Resolver, node: Any, scope: Scope) -> tuple[ScalarQuery, list[Expr]]:
    """A query, and the columns of ``scope`` that it reads."""
    inside = Scope(scope)
    inside.outer = scope
    relation = resolver.query(node, inside)
    columns = column_types(relation)
    type_ = columns[0][1].or_null() if len(columns) == 1 else types.TUPLE
    reads = inside.outer_columns
    if reads and scope.plain_nulls:
        message = "A subquery in ON cannot use columns of the outer query"
        raise refused(message, node, hint="write the condition in WHERE, or join the subquery")
    return ScalarQuery(query=relation, type=type_, correlated=bool(reads)), reads


def _aggregates_whole(relation: Relation) -> TypeGuard[Select]:
    return isinstance(relation, Select) and not relation.group_by and relation.having is None


def _zero_without_rows(query: ScalarQuery, value: Expr, node: Any) -> Expr:
    if isinstance(value, FunctionCall) and _is_zero_of_nothing(value):
        return TrustedSQL(parts=("ifNull(", query, ", 0)"), type=value.type)
    if any(map(_is_zero_of_nothing, _calls(value))):
        message = "A subquery that uses the outer query can only select a bare count or sum"
        raise refused(message, node, hint="calculate outside of it: (SELECT count() ...) * 2")
    return query


def _is_zero_of_nothing(call: FunctionCall) -> bool:
    return call.aggregate and call.function.startswith(_ZERO_OF_NOTHING)


def _calls(expr: Any) -> Iterator[FunctionCall]:
    if isinstance(expr, FunctionCall):
        yield expr
        for arg in expr.args:
            yield from _calls(arg)
    elif isinstance(expr, TrustedSQL):
        for part in expr.parts:
            yield from _calls(part)


def _first_row(select: Select, node: Any) -> Select:
    """``SELECT x ... ORDER BY t DESC LIMIT 1`` as ``argMax(x, t)``."""
    keys = select.order_by
    is_plain = not (
        select.group_by or select.distinct or select.offset or select.limit_by or select.qualify
        or select.having or any(map(_is_aggregate, _calls(select.columns[0][1])))
    )  # fmt: skip
    is_one = isinstance(select.limit, Number) and select.limit.text == "1"
    if not is_plain or not is_one or len(select.columns) != 1 or len(keys) > 1:
        raise refused(
            "A subquery that uses the outer query supports LIMIT only as ORDER BY x LIMIT 1",
            node,
            hint="join a grouped query instead",
        )
    if any(key.expr.type.nullable for key in keys):
        raise refused("The ORDER BY of this subquery must not be NULL", node)
    name, value = select.columns[0]
    # In a tuple, because aggregates skip NULL.
    row = FunctionCall(function="tuple", args=(value,), type=types.TUPLE)
    by = tuple(key.expr for key in keys)
    function = ("argMax" if keys[0].descending else "argMin") if keys else "any"
    first = FunctionCall(function=function, args=(row, *by), aggregate=True, type=types.TUPLE)
    part = (first, Number(text="1"))
    column = FunctionCall(function="tupleElement", args=part, type=value.type)
    return msgspec.structs.replace(select, columns=((name, column),), order_by=(), limit=None)


def _is_aggregate(call: FunctionCall) -> bool:
    return call.aggregate


def refuse_correlated(right: Expr, node: Any) -> None:
    """Reject a query on the right side of IN that uses columns of the outer query.

    Raises:
        SourceError: it uses one.
    """
    if isinstance(right, ScalarQuery) and right.correlated:
        message = "A subquery after IN cannot use columns of the outer query"
        raise refused(message, node, hint="write EXISTS (SELECT 1 FROM ... WHERE ...), or a join")
