"""Aggregates where none can be, and aggregates that are made of two functions of the engine."""

from collections.abc import Iterable, Mapping
from typing import Any

from hoglet.hogql.errors import ILLEGAL_AGGREGATION, refused
from hoglet.hogql.plan import Apply, Expr, LambdaExpr, Name, Trusted
from hoglet.hogql.types import STRING


def holds_aggregate(expr: Expr, aliases: Mapping[str, Expr]) -> bool:
    """Whether it aggregates rows of its own select, also by an alias of it.

    Window functions and queries in brackets do not.
    """
    return _holds((expr,), aliases, set())


def refuse_nested(args: tuple[Expr, ...], aliases: Mapping[str, Expr], node: Any) -> None:
    """Refuse ``sum(count())``.

    Raises:
        SourceError: one of the arguments of an aggregate aggregates.
    """
    if _holds(args, aliases, set()):
        message = "An aggregate cannot stand in another one: aggregate in a query of FROM first"
        raise refused(message, node, code=ILLEGAL_AGGREGATION)


def _holds(exprs: Iterable[Any], aliases: Mapping[str, Expr], seen: set[str]) -> bool:
    for expr in exprs:
        if isinstance(expr, Apply):
            inside: Iterable[Any] = expr.args
            if expr.aggregate:
                return True
        elif isinstance(expr, Trusted):
            inside = expr.parts
        elif isinstance(expr, LambdaExpr):
            inside = (expr.body,)
        elif isinstance(expr, Name) and expr.source is None and expr.name not in seen:
            seen.add(expr.name)
            inside = (aliases[expr.name],) if expr.name in aliases else ()
        else:
            continue
        if _holds(inside, aliases, seen):
            return True
    return False


COLLECTED = frozenset({"string_agg", "json_agg", "string_aggIf", "json_aggIf"})


def collected(name: str, args: tuple[Expr, ...], *, distinct: bool) -> Expr:
    """``string_agg(x, ', ')`` and ``json_agg(x)``: a list, then its text."""
    condition = args[-1:] if name.endswith("If") else ()
    function = "groupArrayIf" if condition else "groupArray"
    grouped = (args[0], *condition)
    items = Apply(function=function, args=grouped, distinct=distinct, aggregate=True)
    if name.startswith("json"):
        return Trusted(parts=("toJSONString(", items, ")"), type=STRING)
    return Trusted(parts=("arrayStringConcat(", items, ", ", args[1], ")"), type=STRING)
