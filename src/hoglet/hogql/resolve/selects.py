"""SELECT, set operations, FROM and joins."""

from typing import TYPE_CHECKING, Any

import msgspec

from hoglet.hogql.errors import TABLE_DENIED, refused, unknown_table
from hoglet.hogql.plan import (
    Apply,
    Expr,
    Join,
    Name,
    Number,
    Numbers,
    Relation,
    Select,
    SetQuery,
    Trusted,
    column_types,
)
from hoglet.hogql.print_hogql import print_expression
from hoglet.hogql.resolve.calls import resolve_ordering, resolve_window
from hoglet.hogql.resolve.scope import CteQuery, Scope
from hoglet.hogql.resolve.sources import EmptySource, QuerySource, Source, TableSource
from hoglet.hogql.resolve.stars import expand_columns
from hoglet.hogql.schema.catalog import EMPTY_TABLES, find_table, table_names
from hoglet.hogql.types import INTEGER, UNKNOWN
from hoglet.syntax import tree

if TYPE_CHECKING:
    from hoglet.hogql.resolve.resolver import Resolver

_SET_OPERATORS = frozenset(
    {
        "UNION ALL",
        "UNION DISTINCT",
        "INTERSECT",
        "INTERSECT DISTINCT",
        "EXCEPT",
        "EXCEPT DISTINCT",
    }
)
_JOIN_WORDS = frozenset(
    {
        "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "OUTER", "CROSS", "ANY", "ALL", "ASOF", "SEMI",
        "ANTI",
    }
)  # fmt: skip


def resolve_query(resolver: "Resolver", node: Any, parent: Scope | None) -> Relation:
    """A SELECT or a set of them."""
    if isinstance(node, tree.SelectSetQuery):
        return _resolve_set(resolver, node, parent)
    if isinstance(node, tree.SelectQuery):
        return _resolve_select(resolver, node, parent)
    raise refused("A placeholder cannot stand for a whole query", node)


def _resolve_set(resolver: "Resolver", node: tree.SelectSetQuery, parent: Scope | None) -> SetQuery:
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
            raise refused("The queries of a union must have the same number of columns", item)
        rest.append((item.set_operator, query))
    return SetQuery(first=first, rest=tuple(rest))


def _resolve_select(resolver: "Resolver", node: tree.SelectQuery, parent: Scope | None) -> Select:
    scope = Scope(parent)
    _declare_ctes(node, scope)
    joins = _resolve_from(resolver, node, scope)
    array_join = _resolve_array_join(resolver, node, scope)
    scope.windows.update(node.window_exprs or {})
    columns, shown = _resolve_columns(resolver, node, scope)
    where = _resolve_where(resolver, node, scope)
    group_by = _resolve_group_by(resolver, node, scope)
    selected = Select(
        columns=columns,
        distinct=bool(node.distinct),
        array_join=array_join,
        array_join_kind=_array_join_kind(node),
        where=where,
        group_by=group_by,
        group_by_mode=(node.group_by_mode or "").upper(),
        having=resolver.expression(node.having, scope) if node.having is not None else None,
        qualify=resolver.expression(node.qualify, scope) if node.qualify is not None else None,
        windows=tuple(
            (name, resolve_window(resolver, window, scope))
            for name, window in (node.window_exprs or {}).items()
        ),
        order_by=resolve_ordering(resolver, node.order_by, scope),
        limit_by=_resolve_limit_by(resolver, node, scope),
        limit=_count(resolver, node.limit, scope, "LIMIT"),
        offset=_count(resolver, node.offset, scope, "OFFSET"),
        with_ties=bool(node.limit_with_ties),
    )
    _refuse_rest(node)
    finished = tuple(
        Join(relation=source.relation(), alias=source.alias, kind=kind, on=on)
        for source, kind, on in joins
    )
    selected = msgspec.structs.replace(selected, joins=finished)
    resolver.shown[id(selected)] = (selected, shown)
    return selected


def _refuse_rest(node: tree.SelectQuery) -> None:
    if node.interpolate:
        raise refused("INTERPOLATE is not supported", node)
    if node.limit_percent:
        raise refused("LIMIT ... PERCENT is not supported", node)
    if node.group_by_mode not in {None, "all", "rollup", "cube"}:
        raise refused("GROUPING SETS are not supported", node)
    if node.limit_with_ties and not node.order_by:
        raise refused("WITH TIES needs ORDER BY", node)


def _declare_ctes(node: tree.SelectQuery, scope: Scope) -> None:
    for cte in node.ctes or ():
        if cte.recursive:
            raise refused("WITH RECURSIVE is not supported", cte)
        if cte.cte_type == "column":
            scope.macros[cte.name] = cte
        elif cte.name not in scope.queries:
            # A CTE sees those before it: the scope it is resolved in is a snapshot of now.
            seen = Scope(scope.parent)
            seen.queries.update(scope.queries)
            seen.macros.update(scope.macros)
            scope.queries[cte.name] = CteQuery(cte, seen)


# --- columns


def _resolve_columns(
    resolver: "Resolver", node: tree.SelectQuery, scope: Scope
) -> tuple[tuple[tuple[str, Expr], ...], tuple[str, ...]]:
    columns: dict[str, Expr] = {}
    shown: list[str] = []
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
        shown.append(display)
        columns[_unique(label, columns)] = expr
    return tuple(columns.items()), tuple(shown)


def _unique(label: str, taken: dict[str, Expr]) -> str:
    if label not in taken:
        return label
    count = 2
    while f"{label}_{count}" in taken:
        count += 1
    return f"{label}_{count}"


def _resolve_where(resolver: "Resolver", node: tree.SelectQuery, scope: Scope) -> Expr | None:
    parts = [part for part in (node.prewhere, node.where) if part is not None]
    if not parts:
        return None
    hidden = _shadowing_aggregates(scope)
    for name in hidden:
        del scope.aliases[name]
    found = resolver.expressions(parts, scope)
    scope.aliases.update(hidden)
    return found[0] if len(found) == 1 else Apply(function="and", args=found)


def _shadowing_aggregates(scope: Scope) -> dict[str, Expr]:
    """Aliases of aggregates that hide a column: WHERE means the column, as in ``count() event``."""
    return {
        name: expr
        for name, expr in scope.aliases.items()
        if isinstance(expr, Apply)
        and expr.aggregate
        and any(source.knows(name) for source in scope.sources.values())
    }


def _resolve_group_by(
    resolver: "Resolver", node: tree.SelectQuery, scope: Scope
) -> tuple[Expr, ...]:
    for item in node.group_by or ():
        if isinstance(item, tree.GroupingSet):
            raise refused("GROUPING SETS are not supported", item)
    return resolver.expressions(node.group_by, scope)


def _resolve_limit_by(resolver: "Resolver", node: tree.SelectQuery, scope: Scope) -> Any:
    if node.limit_by is None:
        return None
    count = _count(resolver, node.limit_by.n, scope, "LIMIT BY")
    offset = _count(resolver, node.limit_by.offset_value, scope, "OFFSET")
    return (count, offset, resolver.expressions(node.limit_by.exprs, scope))


def _count(resolver: "Resolver", node: Any, scope: Scope, clause: str) -> Expr | None:
    """A row count: a whole number, 0 or more, also from a variable."""
    if node is None:
        return None
    if isinstance(node, tree.Placeholder):
        node = resolver.binder.expand(node, tuple(scope.table_aliases))
    value = getattr(node, "value", None)
    if isinstance(node, tree.Constant) and value is None:
        return None  # a variable that is NULL bounds nothing
    if isinstance(value, str) and value.strip().isdigit():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(node, tree.Constant) or isinstance(value, bool) or not isinstance(value, int):
        raise refused(f"{clause} must be a whole number", node)
    if value < 0:
        raise refused(f"{clause} must not be negative", node)
    return Number(text=str(value), type=INTEGER)


# --- from


type _Joined = tuple[Source, str, Expr | None]


def _resolve_from(resolver: "Resolver", node: tree.SelectQuery, scope: Scope) -> list[_Joined]:
    taken = {item.alias for item in node.select if isinstance(item, tree.Alias)}
    joins: list[_Joined] = []
    join = node.select_from
    while join is not None:
        user_alias, source = _resolve_source(resolver, join, scope, taken)
        if user_alias in scope.sources:
            raise refused(f"Already have joined a table called '{user_alias}'", join)
        before = list(scope.sources.values())
        scope.sources[user_alias] = source
        kind = _join_kind(join) if joins else ""
        joins.append((source, kind, _constraint(resolver, join, scope, before, source)))
        join = join.next_join
    return joins


def _join_kind(join: tree.JoinExpr) -> str:
    words = (join.join_type or "JOIN").upper().replace("GLOBAL ", "").split()
    if not set(words) <= _JOIN_WORDS:
        raise refused(f"{join.join_type} is not supported", join)
    return " ".join(words)


def _constraint(
    resolver: "Resolver", join: tree.JoinExpr, scope: Scope, before: list[Source], source: Source
) -> Expr | None:
    if join.constraint is None:
        if before and "CROSS" not in (join.join_type or ""):
            raise refused("A JOIN needs ON or USING", join)
        return None
    if not before:
        raise refused("ON without a JOIN", join)
    if join.constraint.constraint_type.upper() != "USING":
        return _joinable(resolver.expression(join.constraint.expr, scope))
    expr = join.constraint.expr
    items = expr.exprs if isinstance(expr, tree.Tuple) else (expr,)
    return _using(items, scope, before, source)


def _joinable(expr: Expr) -> Expr:
    """Equalities of ON as the warehouse can join by them: NULL joins nothing anyway."""
    if isinstance(expr, Apply) and expr.function == "and":
        return msgspec.structs.replace(expr, args=tuple(_joinable(arg) for arg in expr.args))
    if isinstance(expr, Trusted) and expr.parts[0] == "ifNull(":
        inner = expr.parts[1]
        if isinstance(inner, Apply) and inner.function == "equals":
            return inner
    return expr


def _using(items: tuple[Any, ...], scope: Scope, before: list[Source], source: Source) -> Expr:
    pairs: list[Expr] = []
    for item in items:
        if not isinstance(item, tree.Field) or len(item.chain) != 1:
            raise refused("USING takes column names", item)
        name = str(item.chain[0])
        owners = [other for other in before if other.knows(name)]
        if not owners:
            raise refused(f"USING: no table before has a field {name}", item)
        sides = (owners[0].resolve((name,), item), source.resolve((name,), item))
        pairs.append(Apply(function="equals", args=sides))
        scope.merged.add(name)
    return pairs[0] if len(pairs) == 1 else Apply(function="and", args=tuple(pairs))


def _resolve_source(
    resolver: "Resolver", join: tree.JoinExpr, scope: Scope, taken: set[str]
) -> tuple[str, Source]:
    resolver.count_relation(join)
    if join.table_final:
        raise refused("FINAL is not supported: tables always show their newest rows", join)
    if isinstance(join.table, tree.Field):
        return _named_source(resolver, join, join.table, scope, taken)
    if not isinstance(join.table, tree.SelectQuery | tree.SelectSetQuery):
        raise refused("FROM needs a table or a query", join)
    alias = join.alias or f"q{len(scope.sources)}"
    relation = resolver.query(join.table, scope)
    return alias, QuerySource(_printed(alias, taken), relation, join.column_aliases or ())


def _printed(alias: str, taken: set[str]) -> str:
    """A table alias that no column alias of the same select can be mistaken for."""
    while alias in taken:
        alias += "_t"
    return alias


def _named_source(
    resolver: "Resolver", join: tree.JoinExpr, table: tree.Field, scope: Scope, taken: set[str]
) -> tuple[str, Source]:
    name = ".".join(map(str, table.chain))
    alias = join.alias or str(table.chain[-1])
    printed = _printed(alias, taken)
    if name == "numbers" or join.table_args is not None:
        return alias, _numbers(resolver, join, name, printed, scope)
    cte = scope.cte(name)
    if cte is not None:
        return alias, QuerySource(
            printed, _cte_relation(resolver, cte, join), cte.cte.columns or ()
        )
    if name in EMPTY_TABLES:
        resolver.tables.append(name)
        return alias, EmptySource(printed, EMPTY_TABLES[name])
    if join.column_aliases:
        raise refused("Column aliases are only supported for subqueries", join)
    found = find_table(name, resolver.context)
    if found is None:
        raise unknown_table(name, table, table_names(resolver.context))
    resolver.tables.append(name)
    scope.table_aliases.append((alias, name))
    return alias, TableSource(found, printed, resolver.context, _sample(join, name))


def _cte_relation(resolver: "Resolver", cte: CteQuery, node: Any) -> Relation:
    if cte.resolving:
        raise refused(f"'{cte.cte.name}' refers to itself", node)
    if cte.relation is None:
        cte.resolving = True
        before = resolver.relations
        cte.relation = resolver.query(cte.cte.expr, cte.scope)  # pyright: ignore[reportArgumentType] (a subquery CTE)
        cte.cost = resolver.relations - before
        cte.resolving = False
    else:
        resolver.relations += cte.cost
        resolver.count_relation(node)
    return cte.relation


def _numbers(
    resolver: "Resolver", join: tree.JoinExpr, name: str, alias: str, scope: Scope
) -> Source:
    if name != "numbers":
        raise refused(f"Table function '{name}' is not allowed", join, code=TABLE_DENIED)
    if not join.table_args or len(join.table_args) > 2:
        raise refused("numbers(n) takes one or two numbers", join)
    args = [_count(resolver, arg, scope, "numbers()") for arg in join.table_args]
    resolver.tables.append(name)
    return QuerySource(alias, Numbers(args=tuple(arg for arg in args if arg is not None)))


def _sample(join: tree.JoinExpr, table: str) -> float | None:
    if join.sample is None:
        return None
    if table != "events" or join.sample.offset_value is not None:
        raise refused("SAMPLE is supported on events, without OFFSET", join)
    ratio = join.sample.sample_value
    bottom = float(ratio.right.value) if ratio.right is not None else 1.0
    share = float(ratio.left.value) / bottom if bottom else 0.0
    if not 0 < share <= 1:
        raise refused("SAMPLE takes a share between 0 and 1", join)
    return share


def _resolve_array_join(
    resolver: "Resolver", node: tree.SelectQuery, scope: Scope
) -> tuple[tuple[str, Expr], ...]:
    found: list[tuple[str, Expr]] = []
    for item in node.array_join_list or ():
        if not isinstance(item, tree.Alias):
            raise refused("ARRAY JOIN needs an alias for each array: ARRAY JOIN x AS y", item)
        expr = resolver.expression(item.expr, scope)
        scope.aliases[item.alias] = Name(name=item.alias, type=expr.type.item or UNKNOWN)
        found.append((item.alias, expr))
    return tuple(found)


def _array_join_kind(node: tree.SelectQuery) -> str:
    if not node.array_join_list:
        return ""
    kind = (node.array_join_op or "ARRAY JOIN").upper()
    if kind not in {"ARRAY JOIN", "LEFT ARRAY JOIN", "INNER ARRAY JOIN"}:
        raise refused(f"{kind} is not supported", node)
    return kind.removeprefix("INNER ")
