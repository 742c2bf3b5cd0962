"""``WITH RECURSIVE``: a CTE whose later queries read the rows that it found so far.

Source: docs/spec/query-endpoints.md#103-limits-and-settings.
"""

from typing import Any

from hoglet.hogql.errors import refused
from hoglet.hogql.plan import (
    RECURSION,
    Name,
    Recursion,
    RecursiveRead,
    Relation,
    column_types,
)
from hoglet.hogql.resolve.resolver import Resolver
from hoglet.hogql.resolve.scope import CteQuery, Scope
from hoglet.syntax import tree


def recursion_of(resolver: Resolver, cte: CteQuery) -> Relation:
    """The plan of a recursive CTE; a plain union if none of its queries reads it.

    Raises:
        SourceError: another operator than UNION ALL, or queries of different widths.
    """
    node = cte.cte.expr
    assert isinstance(node, tree.SelectSetQuery)  # noqa: S101 (the caller looks)
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
            message = "The queries of a recursive WITH are joined by UNION ALL"
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
