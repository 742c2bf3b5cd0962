"""SELECT and set operations."""

from typing import Any

import msgspec

from hoglet.hogql.errors import ILLEGAL_AGGREGATION, in_expression, refused
from hoglet.hogql.frontend.preprocess import read_expression
from hoglet.hogql.frontend.print_hogql import print_expression
from hoglet.hogql.plan import (
    Expr,
    FunctionCall,
    Join,
    Name,
    Relation,
    Select,
    SetQuery,
    column_types,
)
from hoglet.hogql.resolve.aggregation import hidden_columns, holds_aggregate
from hoglet.hogql.resolve.array_join import array_join_kind, resolve_array_join
from hoglet.hogql.resolve.grouped_text import with_grouped_texts
from hoglet.hogql.resolve.operands.conditions import as_condition, as_filter
from hoglet.hogql.resolve.relations import count_of, resolve_from
from hoglet.hogql.resolve.resolver import Resolver
from hoglet.hogql.resolve.scope import CteQuery, Scope
from hoglet.hogql.resolve.sources import Source
from hoglet.hogql.resolve.star_expansion import expand_columns
from hoglet.hogql.resolve.windows import resolve_ordering, resolve_window
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree

_SET_OPERATORS = frozenset(
    {
        "UNION ALL",
        "UNION DISTINCT",
        "INTERSECT",
        "INTERSECT ALL",
        "INTERSECT DISTINCT",
        "EXCEPT",
        "EXCEPT ALL",
        "EXCEPT DISTINCT",
    }
)


def resolve_query(resolver: Resolver, node: Any, parent: Scope | None) -> Relation:
    """Resolve a SELECT or a set operation."""
    if isinstance(node, tree.SelectSetQuery):
        return _resolve_set(resolver, node, parent)
    if isinstance(node, tree.SelectQuery):
        return _resolve_select(resolver, node, parent)
    raise refused("A placeholder cannot replace a whole query", node)


def _resolve_set(resolver: Resolver, node: tree.SelectSetQuery, parent: Scope | None) -> Relation:
    queries = _resolve_queries(resolver, node, parent)
    if node.limit is None and node.offset is None:
        return queries
    outside = Scope(parent)
    limit = count_of(resolver, node.limit, outside, "LIMIT")
    offset = count_of(resolver, node.offset, outside, "OFFSET")
    columns = tuple(
        (name, Name(source="page", name=name, type=type_)) for name, type_ in column_types(queries)
    )
    whole = Join(relation=queries, alias="page")
    limited = Select(columns=columns, joins=(whole,), limit=limit, offset=offset)
    resolver.visible_names[id(limited)] = (limited, resolver.names_of(queries))
    return limited


def _resolve_queries(
    resolver: Resolver, node: tree.SelectSetQuery, parent: Scope | None
) -> SetQuery:
    shared = Scope(parent)
    first_node = node.initial_select_query
    if isinstance(first_node, tree.SelectQuery):
        _declare_ctes(first_node, shared)
    first = resolver.query(first_node, shared)
    width = len(column_types(first))
    rest: list[tuple[str, Relation]] = []
    for item in node.subsequent_select_queries:
        if item.set_operator not in _SET_OPERATORS:
            raise refused(f"{item.set_operator} is not supported", item)
        query = resolver.query(item.select_query, shared)
        if len(column_types(query)) != width:
            message = "The queries of a union must have the same number of columns"
            raise refused(message, item.select_query)
        rest.append((item.set_operator, query))
    return SetQuery(first=first, rest=tuple(rest))


def _resolve_select(resolver: Resolver, node: tree.SelectQuery, parent: Scope | None) -> Select:
    scope = Scope(parent)
    _declare_ctes(node, scope)
    joins = resolve_from(resolver, node, scope)
    array_join = resolve_array_join(resolver, node, scope)
    scope.windows.update(node.window_exprs or {})
    columns, visible = _resolve_columns(resolver, node, scope)
    where = _resolve_where(resolver, node, scope)
    group_by = _resolve_group_by(resolver, node, scope)
    group_by += scope.determined_by(group_by) if group_by else ()
    selected = Select(
        columns=columns,
        distinct=bool(node.distinct),
        array_join=array_join,
        array_join_kind=array_join_kind(node),
        where=where,
        group_by=group_by,
        group_by_mode=(node.group_by_mode or "").upper().replace("_", " "),
        having=_condition(resolver, node.having, scope),
        qualify=_condition(resolver, node.qualify, scope),
        windows=tuple(
            (name, resolve_window(resolver, window, scope))
            for name, window in (node.window_exprs or {}).items()
        ),
        order_by=resolve_ordering(resolver, _written_out(node, scope, len(columns)), scope),
        limit_by=_resolve_limit_by(resolver, node, scope),
        limit=count_of(resolver, node.limit, scope, "LIMIT"),
        offset=count_of(resolver, node.offset, scope, "OFFSET"),
        with_ties=bool(node.limit_with_ties),
    )
    if group_by:
        selected = with_grouped_texts(selected, scope)
    _refuse_rest(node)
    finished = tuple(
        Join(relation=_relation(source, scope), alias=source.alias, kind=kind, on=on)
        for source, kind, on in joins
    )
    selected = msgspec.structs.replace(selected, joins=finished)
    resolver.visible_names[id(selected)] = (selected, visible)
    return selected


def _relation(source: Source, scope: Scope) -> Relation:
    rows = scope.outer_rows.get(source.alias)
    return source.relation() if rows is None else rows.wrapped(source.relation())


def _written_out(
    node: tree.SelectQuery, scope: Scope, columns: int
) -> tuple[tree.OrderExpr, ...] | None:
    """ORDER BY, with ``ALL`` as the positions of all columns."""
    items = node.order_by or ()
    chain = items[0].expr.chain if items and isinstance(items[0].expr, tree.Field) else ()
    if len(items) != 1 or [str(part).lower() for part in chain] != ["all"] or scope.knows("all"):
        return node.order_by
    places = (tree.Constant(value=position + 1) for position in range(columns))
    return tuple(msgspec.structs.replace(items[0], expr=position) for position in places)


def _refuse_rest(node: tree.SelectQuery) -> None:
    if node.interpolate:
        raise refused("INTERPOLATE is not supported", node)
    if node.limit_percent:
        raise refused("LIMIT ... PERCENT is not supported", node)
    if node.limit_with_ties and not node.order_by:
        raise refused("WITH TIES needs ORDER BY", node)


def _declare_ctes(node: tree.SelectQuery, scope: Scope) -> None:
    for cte in node.ctes or ():
        if cte.cte_type == "column":
            scope.macros[cte.name] = cte
        elif cte.name not in scope.queries:
            # A CTE sees earlier ones: its scope is a snapshot.
            seen = Scope(scope.parent)
            seen.queries.update(scope.queries)
            seen.macros.update(scope.macros)
            scope.queries[cte.name] = CteQuery(cte, seen)


# --- columns


def _resolve_columns(
    resolver: Resolver, node: tree.SelectQuery, scope: Scope
) -> tuple[tuple[tuple[str, Expr], ...], tuple[str, ...]]:
    columns: dict[str, Expr] = {}
    counts: dict[str, int] = {}
    visible: list[str] = []
    for item in expand_columns(node.select, scope):
        if isinstance(item, tree.Alias):
            label = display = item.alias
            expr = resolver.expression(item.expr, scope)
            scope.aliases.setdefault(item.alias, expr)
        else:
            expr = resolver.expression(item, scope)
            label = display = print_expression(item)
            if isinstance(item, tree.Field):
                label = str(item.chain[-1])
        visible.append(display)
        columns[_unique(label, columns, counts)] = expr
    return tuple(columns.items()), tuple(visible)


def _unique(label: str, taken: dict[str, Expr], counts: dict[str, int]) -> str:
    """The label, with a number appended if it is already used."""
    name = label
    while name in taken:
        counts[label] = counts.get(label, 1) + 1
        name = f"{label}_{counts[label]}"
    return name


def _resolve_where(resolver: Resolver, node: tree.SelectQuery, scope: Scope) -> Expr | None:
    parts = [part for part in (node.prewhere, node.where) if part is not None]
    if not parts:
        return None
    scope.in_where = True
    with scope.without_aliases(hidden_columns(scope)):
        conditions = resolver.expressions(parts, scope)
    scope.in_where = False
    for part, expr in zip(parts, conditions, strict=True):
        if holds_aggregate(expr, scope.aliases):
            raise _aggregate_in_where(resolver, part, scope)
    conditions = tuple([as_filter(as_condition(each)) for each in conditions])
    return conditions[0] if len(conditions) == 1 else FunctionCall(function="and", args=conditions)


def _condition(resolver: Resolver, node: Any, scope: Scope) -> Expr | None:
    return None if node is None else as_condition(resolver.expression(node, scope))


def _aggregate_in_where(resolver: Resolver, part: tree.Expression, scope: Scope) -> SourceError:
    """The error at the condition that aggregates: an operand of AND, or a filter."""

    def aggregates(node: tree.Expression) -> bool:
        with scope.without_aliases(hidden_columns(scope)):
            return holds_aggregate(resolver.expression(node, scope), scope.aliases)

    while isinstance(part, tree.And):
        part = next(filter(aggregates, part.exprs), part.exprs[0])
    message = "WHERE cannot contain an aggregate: use HAVING, which filters after grouping"
    right = getattr(part, "right", None)
    is_quantifier = isinstance(right, tree.Call) and right.name.lower() in {"any", "all", "some"}
    hint = "= ANY (...) is written event IN ('a', 'b')" if is_quantifier else None
    error = refused(message, part, code=ILLEGAL_AGGREGATION, hint=hint)
    if isinstance(part, tree.Placeholder):
        for path, text in resolver.binder.filter_expressions(part):
            if aggregates(node := read_expression(text)):
                return in_expression(refused(message, node, code=error.error_code), path, text)
    return error


def _resolve_group_by(resolver: Resolver, node: tree.SelectQuery, scope: Scope) -> tuple[Expr, ...]:
    keys: list[Expr] = []
    for item in node.group_by or ():
        if isinstance(item, tree.GroupingSet):
            keys.append(
                FunctionCall(function="tuple", args=resolver.expressions(item.exprs, scope))
            )
        else:
            keys.append(resolver.expression(item, scope))
    return tuple(keys)


def _resolve_limit_by(resolver: Resolver, node: tree.SelectQuery, scope: Scope) -> Any:
    if node.limit_by is None:
        return None
    count = count_of(resolver, node.limit_by.n, scope, "LIMIT BY")
    offset = count_of(resolver, node.limit_by.offset_value, scope, "OFFSET")
    if count is None:
        return None
    return (count, offset, resolver.expressions(node.limit_by.exprs, scope))
