"""Window functions and ORDER BY."""

from typing import Any

import msgspec

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import NOT_AGGREGATE, refused, unknown_function
from hoglet.hogql.functions import find_function, function_names
from hoglet.hogql.functions.datetime_zone import as_time
from hoglet.hogql.plan import (
    Expr,
    FunctionCall,
    Name,
    Ordering,
    Over,
    TrustedSQL,
    Window,
)
from hoglet.hogql.resolve.aggregation import COLLECTED
from hoglet.hogql.resolve.calls import check_count, is_star
from hoglet.hogql.resolve.resolver import Resolver
from hoglet.hogql.resolve.scope import Scope
from hoglet.hogql.resolve.window_frames import resolve_frame
from hoglet.hogql.types import TIMES
from hoglet.syntax import tree


def resolve_window_function(resolver: Resolver, node: tree.WindowFunction, scope: Scope) -> Expr:
    """``name(args) OVER (...)``."""
    function = find_function(node.name)
    if function is None:
        raise unknown_function(node.name, node, function_names())
    if not (function.window or function.aggregate):
        message = f"'{node.name}' is neither an aggregate nor a window function"
        raise refused(message, node, code=NOT_AGGREGATE)
    if function.name in COLLECTED:
        hint = "arrayStringConcat(groupArray(x) OVER (...), ',')"
        raise refused(f"{node.name} is not supported with OVER: write {hint}", node)
    # ``f(x)`` has x in exprs; ``f(p)(x)`` has the parameter p there, and x in args.
    params, given = (node.exprs, node.args) if node.args else (None, node.exprs or ())
    if function.name == "count" and len(given) == 1 and is_star(given[0]):
        given = ()
    args = resolver.expressions(given, scope)
    check_count(function, len(args), node)
    if function.name in _NEIGHBOURS:
        args = tuple([_or_null(arg) if at != 1 else arg for at, arg in enumerate(args)])
    type_ = function.type_of(tuple(arg.type for arg in args))
    call = FunctionCall(
        function=function.clickhouse,
        args=args,
        params=resolver.expressions(params, scope) if params else None,
        type=type_,
    )
    if node.over_identifier is not None:
        if node.over_identifier not in scope.windows:
            raise refused(f"Unknown window '{node.over_identifier}'", node)
        if function.name not in _NEIGHBOURS:
            return Over(call=call, name=node.over_identifier, type=type_)
        over = scope.windows[node.over_identifier]
    else:
        over = node.over_expr or tree.WindowExpr()
    window = resolve_window(resolver, over, scope)
    if function.name in _NEIGHBOURS:
        window = msgspec.structs.replace(window, frame="")  # they use all rows of a partition
    return Over(call=call, window=window, type=type_)


# Without such a row the result is NULL, as in standard SQL; the engine would return "" or 0.
_NEIGHBOURS = frozenset({"lag", "lead"})
_NEVER_NULL = frozenset({"Array", "Tuple", "Map", "Unknown", "Null"})


def _or_null(arg: Expr) -> Expr:
    if arg.type.nullable or arg.type.name in _NEVER_NULL:
        return arg
    return TrustedSQL(parts=("toNullable(", arg, ")"), type=arg.type.or_null())


def resolve_window(resolver: Resolver, node: tree.WindowExpr, scope: Scope) -> Window:
    """The window in OVER or in a named window."""
    order_by = resolve_ordering(resolver, node.order_by, scope)
    frame, order_by = resolve_frame(resolver, node, order_by, scope)
    return Window(
        partition_by=resolver.expressions(node.partition_by, scope), order_by=order_by, frame=frame
    )


def resolve_ordering(resolver: Resolver, items: Any, scope: Scope) -> tuple[Ordering, ...]:
    """ORDER BY items."""
    ordering: list[Ordering] = []
    for item in items or ():
        expr = resolver.expression(item.expr, scope)
        fill = _fill(resolver, item.with_fill, expr, scope) if item.with_fill else None
        ordering.append(Ordering(expr, item.order == "DESC", item.nulls_first, fill))
    return tuple(ordering)


def _fill(
    resolver: Resolver, node: tree.WithFillExpr, filled: Expr, scope: Scope
) -> tuple[Expr | None, Expr | None, Expr | None]:
    """FROM, TO and STEP; the engine requires bounds of exactly the filled type."""
    if isinstance(filled, Name) and filled.source is None:
        filled = scope.aliases.get(filled.name, filled)
    ends = (node.from_value, node.to_value)
    resolved = (resolver.expression(end, scope) if end else None for end in ends)
    start, end = (_fill_end(each, filled, resolver.context) if each else None for each in resolved)
    return start, end, resolver.expression(node.step_value, scope) if node.step_value else None


def _fill_end(end: Expr, filled: Expr, context: QueryContext) -> Expr:
    if filled.type.name in TIMES:
        end = as_time(end, context)
    if filled.type.name == "Date":
        return TrustedSQL(parts=("assumeNotNull(toDate32(", end, "))"))
    if isinstance(filled, FunctionCall) and filled.function in _WHOLE_SECONDS:
        parts = ("toDateTime64(assumeNotNull(", end, f"), 0, '{context.timezone}')")
        return TrustedSQL(parts=parts)
    return TrustedSQL(parts=("assumeNotNull(", end, ")")) if end.type.nullable else end


_WHOLE_SECONDS = frozenset({"dateTrunc", "toStartOfInterval"})
"""Date parts of these have no fraction; others have one of six digits."""
