"""Rejects misplaced aggregates, and builds aggregates from two engine functions."""

from collections.abc import Iterable, Mapping
from typing import Any

from hoglet.hogql.errors import ILLEGAL_AGGREGATION, refused
from hoglet.hogql.plan import (
    Expr,
    FunctionCall,
    LambdaExpr,
    Name,
    Number,
    Ordering,
    Over,
    TrustedSQL,
)
from hoglet.hogql.resolve.scope import Scope
from hoglet.hogql.types import FLOAT, NUMBERS, STRING, Type


def holds_aggregate(expr: Expr, aliases: Mapping[str, Expr]) -> bool:
    """Whether an expression aggregates rows of its own select, also through an alias.

    Window functions and subqueries do not.
    """
    return _holds((expr,), aliases, set())


def hidden_columns(scope: Scope) -> dict[str, Expr]:
    """Aliases of aggregates and window functions that are named like a column.

    Where they cannot be used, the column is meant: in the WHERE of ``count() event``, and in the
    second aggregate of ``min(timestamp) AS timestamp, max(timestamp) AS last``.
    """
    return {
        name: expr
        for name, expr in scope.aliases.items()
        if any(source.knows(name) for source in scope.sources.values())
        and _holds((expr,), scope.aliases, set(), windows=True)
    }


def refuse_nested(args: tuple[Expr, ...], aliases: Mapping[str, Expr], node: Any) -> None:
    """Reject nested aggregates such as ``sum(count())``.

    Raises:
        SourceError: an argument of an aggregate contains an aggregate.
    """
    if _holds(args, aliases, set()):
        message = (
            "An aggregate cannot contain another one: compute the inner one in a subquery in FROM"
        )
        raise refused(message, node, code=ILLEGAL_AGGREGATION)


def _holds(
    exprs: Iterable[Any], aliases: Mapping[str, Expr], seen: set[str], *, windows: bool = False
) -> bool:
    for expr in exprs:
        if isinstance(expr, FunctionCall):
            inside: Iterable[Any] = expr.args
            if expr.aggregate:
                return True
        elif isinstance(expr, TrustedSQL):
            inside = expr.parts
        elif isinstance(expr, LambdaExpr):
            inside = (expr.body,)
        elif isinstance(expr, Name) and expr.source is None and expr.name not in seen:
            seen.add(expr.name)
            inside = (aliases[expr.name],) if expr.name in aliases else ()
        elif windows and isinstance(expr, Over):
            return True
        else:
            continue
        if _holds(inside, aliases, seen, windows=windows):
            return True
    return False


COLLECTED = frozenset({"string_agg", "json_agg", "string_aggIf", "json_aggIf"})
ORDERED = COLLECTED | {"array_agg", "groupArray", "array_aggIf", "groupArrayIf"}
"""Aggregates that support ORDER BY."""


def collected(
    name: str,
    args: tuple[Expr, ...],
    *,
    distinct: bool,
    order_by: tuple[Ordering, ...] = (),
    node: Any = None,
) -> Expr:
    """``array_agg(x ORDER BY y)``, ``string_agg(x, y)``, ``json_agg(x)``: a list, or its text."""
    condition = args[-1:] if name.endswith("If") else ()
    items = _list(args[0], condition, distinct=distinct, order_by=order_by, node=node)
    if name.startswith("json"):
        return TrustedSQL(parts=("toJSONString(", items, ")"), type=STRING)
    if name.startswith("string"):
        return TrustedSQL(parts=("arrayStringConcat(", items, ", ", args[1], ")"), type=STRING)
    return items


def _list(
    item: Expr,
    condition: tuple[Expr, ...],
    *,
    distinct: bool,
    order_by: tuple[Ordering, ...],
    node: Any,
) -> Expr:
    type_ = Type("Array", item=item.type.not_null())
    function = "groupArrayIf" if condition else "groupArray"
    if not order_by:
        args = (item, *condition)
        return FunctionCall(
            function=function, args=args, distinct=distinct, aggregate=True, type=type_
        )
    if len({each.descending for each in order_by}) > 1 or any(o.nulls_first for o in order_by):
        raise refused("ORDER BY in an aggregate supports a single direction, with NULLS LAST", node)
    row = FunctionCall(function="tuple", args=(item, *(each.expr for each in order_by)))
    rows = FunctionCall(
        function=function, args=(row, *condition), distinct=distinct, aggregate=True
    )
    sort = "arrayReverseSort" if order_by[0].descending else "arraySort"
    keys = ", ".join(f"tupleElement(hoglet_t, {at + 2})" for at in range(len(order_by)))
    parts = (f"{sort}(hoglet_t -> tuple({keys}), ", rows, ")")
    if item.type.nullable:  # lists omit NULL
        parts = ("arrayFilter(hoglet_t -> isNotNull(tupleElement(hoglet_t, 1)), ", *parts, ")")
    first = "assumeNotNull(tupleElement(hoglet_t, 1))" if item.type.nullable else "hoglet_t.1"
    return TrustedSQL(parts=(f"arrayMap(hoglet_t -> {first}, ", *parts, ")"), type=type_)


def percentile(name: str, share: Expr, value: Expr, *, descending: bool, node: Any) -> Expr:
    """``percentile_cont`` interpolates; ``percentile_disc`` returns one of the values.

    NULL without values.
    """
    known = float(share.text) if isinstance(share, Number) and share.type.name in NUMBERS else -1.0
    if not 0 <= known <= 1:
        raise refused(f"{name} takes a number from 0 to 1", node)
    if name == "percentile_cont":
        level = Number(text=repr(1 - known if descending else known), type=FLOAT)
        return FunctionCall(
            function="quantileExactInclusiveOrNull",
            args=(value,),
            params=(level,),
            aggregate=True,
            type=FLOAT.or_null(),
        )
    values = FunctionCall(function="groupArray", args=(value,), aggregate=True)
    count = FunctionCall(function="count", args=(value,), aggregate=True)
    sort = "arrayReverseSort" if descending else "arraySort"
    index = ("toUInt64(greatest(1, ceil(round(", share, " * ", count, ", 9))))")
    parts = (f"arrayElementOrNull({sort}(", values, "), ", *index, ")")
    return TrustedSQL(parts=parts, type=value.type.or_null())
