"""Which reads of events have a time bound in their own SELECT."""

from collections.abc import Iterator
from typing import Any, Literal

from hoglet.hogql.ast_builders import walk
from hoglet.syntax import tree

type IndexUse = Literal["undecisive", "no", "partial", "yes"]

_TIME, _EVENT = "timestamp", "event"
_BOUNDS = frozenset({"<", ">", "<=", ">=", "==", "in", "global in"})


def table_names(query: Any) -> tuple[str, ...]:
    """The tables in FROM, unique, in text order, without CTEs."""
    ctes = {cte.name for node in walk(query) if isinstance(node, tree.SelectQuery)
            for cte in node.ctes or ()}  # fmt: skip
    names = (".".join(map(str, table.chain)) for _, table in _tables(query))
    return tuple(dict.fromkeys(name for name in names if name not in ctes))


def unbounded_events(query: Any) -> tuple[tree.Node, ...]:
    """Positions in FROM where events are read without a time bound."""
    return tuple(table for select, table in _events(query) if not _bounds(select, _TIME))


def index_use(query: Any) -> IndexUse:
    """How far the query can use the sort order of events: time first, then name."""
    uses: set[IndexUse] = {_use(select) for select, _ in _events(query)}
    if not uses:
        return "undecisive"
    return uses.pop() if len(uses) == 1 else "partial"


def _use(select: tree.SelectQuery) -> IndexUse:
    if _bounds(select, _TIME):
        return "yes"
    return "partial" if _bounds(select, _EVENT) else "no"


def _events(query: Any) -> Iterator[tuple[tree.SelectQuery, tree.Field]]:
    return ((select, table) for select, table in _tables(query) if table.chain == ("events",))


def _tables(query: Any) -> Iterator[tuple[tree.SelectQuery, tree.Field]]:
    for node in walk(query):
        join = node.select_from if isinstance(node, tree.SelectQuery) else None
        while join is not None:
            if isinstance(join.table, tree.Field) and isinstance(node, tree.SelectQuery):
                yield node, join.table
            join = join.next_join


def _bounds(select: tree.SelectQuery, column: str) -> bool:
    """Whether WHERE compares the column in each of its alternatives."""
    return any(_is_bound(each, column) for each in (select.where, select.prewhere))


def _is_bound(node: Any, column: str) -> bool:
    if isinstance(node, tree.And):
        return any(_is_bound(each, column) for each in node.exprs)
    if isinstance(node, tree.Or):
        return all(_is_bound(each, column) for each in node.exprs)
    if isinstance(node, tree.Placeholder):  # the content of {filters} is only known at run time
        return column == _TIME and _names(node.expr, "filters")
    if isinstance(node, tree.CompareOperation):
        sides = (node.left, node.right)
        return node.op in _BOUNDS and any(_names(side, column) for side in sides)
    return isinstance(node, tree.BetweenExpr) and not node.negated and _names(node.expr, column)


def _names(node: Any, column: str) -> bool:
    """Whether the column is used here: ``timestamp``, ``e.timestamp``, ``toDate(timestamp)``."""
    if isinstance(node, tree.SelectQuery | tree.SelectSetQuery):
        return False
    if isinstance(node, tree.Field):
        return node.chain == (column,) or (
            len(node.chain) == 2 and node.chain[1] == column and node.chain[0] != "properties"
        )
    if isinstance(node, tree.Call):
        return node.name == column or any(_names(arg, column) for arg in node.args)
    return isinstance(node, tree.ArithmeticOperation) and (
        _names(node.left, column) or _names(node.right, column)
    )
