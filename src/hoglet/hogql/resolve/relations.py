"""FROM: tables, subqueries, CTEs (also recursive ones), joins and sampling.

A recursive CTE is one whose later queries read the rows found so far, see
docs/spec/query-endpoints.md#103-limits-and-settings.
"""

from typing import Any

import orjson

from hoglet.hogql.errors import (
    ARITY,
    TABLE_DENIED,
    UNKNOWN_TABLE,
    refused,
    unknown_table,
)
from hoglet.hogql.plan import (
    RECURSION,
    Expr,
    FunctionCall,
    Name,
    Number,
    Numbers,
    Recursion,
    RecursiveRead,
    Relation,
    Select,
    TrustedSQL,
    Value,
    column_types,
)
from hoglet.hogql.resolve.aggregation import holds_aggregate
from hoglet.hogql.resolve.resolver import Resolver
from hoglet.hogql.resolve.scope import CteQuery, Scope
from hoglet.hogql.resolve.sources import EmptySource, QuerySource, Source
from hoglet.hogql.resolve.table_source import Sample, TableSource
from hoglet.hogql.schema.catalog import EMPTY_TABLES, find_table, table_names
from hoglet.hogql.schema.system import SYSTEM_TABLES
from hoglet.hogql.types import INTEGER
from hoglet.syntax import tree

_JOIN_WORDS = frozenset(
    {
        "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "OUTER", "CROSS", "ANY", "ALL", "ASOF", "SEMI",
        "ANTI",
    }
)  # fmt: skip


def count_of(resolver: Resolver, node: Any, scope: Scope, clause: str) -> Expr | None:
    """A row count: a non-negative integer, also from a variable or ``WITH 5 AS n``."""
    if node is None:
        return None
    if isinstance(node, tree.Field) and (macro := scope.macro(str(node.chain[0]))) is not None:
        node = macro.expr
    if isinstance(node, tree.Placeholder):
        node = resolver.binder.expand(node, scope.read_tables)
    value = getattr(node, "value", None)
    if isinstance(node, tree.Constant) and value is None:
        return None  # a NULL variable means no limit
    if isinstance(value, str) and value.strip().isdigit():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(node, tree.Constant) or isinstance(value, bool) or not isinstance(value, int):
        raise refused(f"{clause} must be a whole number", node)
    if value < 0:
        raise refused(f"{clause} must not be negative", node)
    return Number(text=str(min(value, _MAX_ROWS)), type=INTEGER)


_MAX_ROWS = 2**63 - 1


type Joined = tuple[Source, str, Expr | None]


def resolve_from(resolver: Resolver, node: tree.SelectQuery, scope: Scope) -> list[Joined]:
    """The sources of FROM with their joins; declares their aliases in the scope."""
    taken = {item.alias for item in node.select if isinstance(item, tree.Alias)}
    joins: list[Joined] = []
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
    resolver: Resolver, join: tree.JoinExpr, scope: Scope, before: list[Source], source: Source
) -> Expr | None:
    if join.constraint is None:
        if before and "CROSS" not in (join.join_type or ""):
            raise refused("A JOIN needs ON or USING", join)
        return None
    if not before:
        raise refused("ON without a JOIN", join)
    if join.constraint.constraint_type.upper() != "USING":
        scope.plain_nulls = True
        on = resolver.expression(join.constraint.expr, scope)
        scope.plain_nulls = False
        return on
    expr = join.constraint.expr
    items = expr.exprs if isinstance(expr, tree.Tuple) else (expr,)
    return _using(items, scope, before, source)


def _using(items: tuple[Any, ...], scope: Scope, before: list[Source], source: Source) -> Expr:
    pairs: list[Expr] = []
    for item in items:
        if not isinstance(item, tree.Field) or len(item.chain) != 1:
            raise refused("USING takes column names", item)
        name = str(item.chain[0])
        owners = [other for other in before if other.knows(name)]
        if not owners:
            raise refused(f"USING: no preceding table has a field {name}", item)
        sides = (owners[0].resolve((name,), item), source.resolve((name,), item))
        pairs.append(FunctionCall(function="equals", args=sides))
        scope.merged.add(name)
    return pairs[0] if len(pairs) == 1 else FunctionCall(function="and", args=tuple(pairs))


def _resolve_source(
    resolver: Resolver, join: tree.JoinExpr, scope: Scope, taken: set[str]
) -> tuple[str, Source]:
    resolver.count_relations(1, join)
    if isinstance(join.table, tree.Field):  # FINAL has no effect: tables show the latest rows
        return _named_source(resolver, join, join.table, scope, taken)
    if not isinstance(join.table, tree.SelectQuery | tree.SelectSetQuery):
        raise refused("FROM needs a table or a query", join)
    if join.table_final:
        raise refused("FINAL belongs to a table, not to a query", join)
    alias = join.alias or f"q{len(scope.sources)}"
    relation = resolver.query(join.table, scope)
    _refuse_untuple(relation, join)
    return alias, QuerySource(
        _printed(alias, taken), relation, join.column_aliases or (), resolver.context
    )


def _refuse_untuple(relation: Relation, node: Any) -> None:
    """Reject a subquery with unnamed columns, which the outer query could not use."""
    columns = relation.columns if isinstance(relation, Select) else ()
    if any(isinstance(expr, FunctionCall) and expr.function == "untuple" for _, expr in columns):
        hint = "name the parts: t.1 AS a, t.2 AS b"
        raise refused(
            "untuple() in a subquery returns unnamed columns, which the outer query cannot use",
            node,
            hint=hint,
        )


def _printed(alias: str, taken: set[str]) -> str:
    """A table alias that no column alias of the same select conflicts with."""
    while alias in taken:
        alias += "_t"
    return alias


def _named_source(
    resolver: Resolver, join: tree.JoinExpr, table: tree.Field, scope: Scope, taken: set[str]
) -> tuple[str, Source]:
    name = ".".join(map(str, table.chain))
    alias = join.alias or str(table.chain[-1])
    printed = _printed(alias, taken)
    if name == "numbers" or join.table_args is not None:
        return alias, _numbers(resolver, join, name, printed, scope)
    cte = scope.cte(name)
    if cte is not None:
        relation = _cte_relation(resolver, cte, join)
        _refuse_untuple(relation, join)
        return alias, QuerySource(printed, relation, cte.cte.columns or (), resolver.context)
    if name in EMPTY_TABLES:
        resolver.tables.append(name)
        return alias, EmptySource(printed, EMPTY_TABLES[name])
    if join.column_aliases:
        raise refused("Column aliases are only supported for subqueries", join)
    definition = find_table(name, resolver.context)
    if definition is None:
        raise unknown_table(name, table, table_names(resolver.context))
    _check_access(resolver, name, table)
    resolver.tables.append(name)
    scope.table_aliases.append((alias, name))
    return alias, TableSource(definition, printed, resolver.context, _sample(join, name))


def _check_access(resolver: Resolver, name: str, node: Any) -> None:
    """Reject a ``system`` table that the caller's key may not read."""
    if name in SYSTEM_TABLES and name not in resolver.context.readable_system_tables:
        scope = SYSTEM_TABLES[name].scope
        message = f"Access to {name} is denied: it needs a key with the scope {scope}"
        raise refused(message, node, code=TABLE_DENIED)


def _cte_relation(resolver: Resolver, cte: CteQuery, node: Any) -> Relation:
    if cte.resolving:
        raise refused(f"'{cte.cte.name}' refers to itself", node)
    if cte.relation is None:
        cte.resolving = True
        before = resolver.relations
        cte.relation = (
            recursion_of(resolver, cte)
            if cte.cte.recursive and isinstance(cte.cte.expr, tree.SelectSetQuery)
            else resolver.query(cte.cte.expr, cte.scope)  # pyright: ignore[reportArgumentType] (a subquery CTE)
        )
        cte.cost = resolver.relations - before
        cte.resolving = False
    else:
        resolver.count_relations(cte.cost, node)
    return cte.relation


_SERIES = frozenset({"generateSeries", "generate_series"})
_INSTEAD = {
    "values": "write SELECT 1 AS a UNION ALL SELECT 2, or ARRAY JOIN a list",
    "range": "write numbers(5)",
    "unnest": "write ARRAY JOIN list AS item",
    "explode": "write ARRAY JOIN list AS item",
    "flatten": "write ARRAY JOIN list AS item",
}


def _numbers(
    resolver: Resolver, join: tree.JoinExpr, name: str, alias: str, scope: Scope
) -> Source:
    """``numbers(n)``, ``numbers(offset, n)``, ``generateSeries(first, last, step)``."""
    if name not in {"numbers", *_SERIES}:
        message = f"Table function '{name}' is not allowed"
        hint = _INSTEAD.get(name.lower())
        raise refused(message, join, code=UNKNOWN_TABLE, hint=hint)
    count = len(join.table_args or ())
    resolver.tables.append("numbers")
    if name in _SERIES:
        series = tree.Call(name=name, args=join.table_args or (), start=join.start, end=join.end)
        values = resolver.expression(series, Scope(scope))
        rows = FunctionCall(function="arrayJoin", args=(values,), type=INTEGER)
        return QuerySource(alias, Select(columns=(("generate_series", rows),)))
    if not 1 <= count <= 2:
        message = f"numbers(n) or numbers(offset, n) takes 1 or 2 arguments, found {count}"
        raise refused(message, join, code=ARITY)
    args = tuple([_row_count(resolver, arg, scope) for arg in join.table_args or ()])
    return QuerySource(alias, Numbers(args=args))


def _row_count(resolver: Resolver, node: Any, scope: Scope) -> Expr:
    """An argument of ``numbers``: any expression without columns.

    NULL and negative values are 0.
    """
    outside = Scope(scope)
    count = resolver.expression(node, outside)
    if isinstance(count, Number | Value) and count.type.name != "Null":
        return count_of(resolver, _constant_of(count, node), outside, "numbers()") or count
    if holds_aggregate(count, {}):
        raise refused("numbers() takes a constant or a subquery, not an aggregate", node)
    return TrustedSQL(
        parts=("toUInt64(assumeNotNull(greatest(ifNull(toInt64(", count, "), 0), 0)))"),
        type=INTEGER,
    )


def _constant_of(count: Number | Value, node: Any) -> tree.Constant:
    value: Any = count.value if isinstance(count, Value) else orjson.loads(count.text)
    return tree.Constant(value=value, start=node.start, end=node.end)


def _sample(join: tree.JoinExpr, table: str) -> Sample | None:
    if join.sample is None:
        return None
    if table != "events":
        raise refused("SAMPLE is supported only on events", join)
    share = _ratio(join.sample.sample_value)
    if not 0 < share <= 1:
        raise refused("SAMPLE takes a share between 0 and 1", join)
    given = join.sample.offset_value
    offset = 0.0 if given is None else _ratio(given)
    if not 0 <= offset < 1:
        raise refused("OFFSET of SAMPLE takes a share from 0 to less than 1", join)
    return Sample(offset, min(1.0, offset + share))


def _ratio(ratio: tree.RatioExpr) -> float:
    bottom = float(ratio.right.value) if ratio.right is not None else 1.0
    return float(ratio.left.value) / bottom if bottom else -1.0


def recursion_of(resolver: Resolver, cte: CteQuery) -> Relation:
    """The plan of a recursive CTE; a plain union if none of its queries reads it.

    Raises:
        SourceError: an operator other than UNION ALL, or different numbers of columns.
    """
    node = cte.cte.expr
    assert isinstance(node, tree.SelectSetQuery)  # noqa: S101 (the caller checks)
    first = resolver.query(node.initial_select_query, cte.scope)
    columns = tuple(
        (column, Name(name=column, type=type_)) for column, type_ in column_types(first)
    )
    rows = RecursiveRead(name=f"{RECURSION}{resolver.recursions}", columns=columns)
    resolver.recursions += 1
    inside = Scope(cte.scope)
    own = CteQuery(cte.cte, inside)
    own.relation = rows
    inside.queries[cte.cte.name] = own
    steps = tuple(
        resolver.query(item.select_query, inside) for item in node.subsequent_select_queries
    )
    if not any(_reads(step, rows.name) for step in steps):
        return resolver.query(node, cte.scope)
    _check(node, steps, len(columns))
    return Recursion(name=rows.name, first=first, steps=steps, columns=columns)


def _check(node: tree.SelectSetQuery, steps: tuple[Relation, ...], width: int) -> None:
    if node.limit is not None or node.offset is not None:
        hint = "limit the query that reads it"
        raise refused("A recursive WITH cannot have a LIMIT of its own", node, hint=hint)
    for item, step in zip(node.subsequent_select_queries, steps, strict=True):
        if item.set_operator != "UNION ALL":
            message = "The queries of a recursive WITH must be joined by UNION ALL"
            raise refused(message, item.select_query)
        if len(column_types(step)) != width:
            message = "The queries of a recursive WITH must have the same number of columns"
            raise refused(message, item.select_query)


def _reads(node: Any, name: str) -> bool:
    """Whether a plan reads the rows of a recursion."""
    if isinstance(node, RecursiveRead):
        return node.name == name
    if isinstance(node, tuple):
        return any(_reads(item, name) for item in node)
    fields = getattr(node, "__struct_fields__", ())
    return any(_reads(getattr(node, field), name) for field in fields if field != "type")
