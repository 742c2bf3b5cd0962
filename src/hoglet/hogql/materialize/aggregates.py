"""Finds the aggregates of a select, also behind names.

In ``count() AS n, n * 2`` the second column aggregates, too: a run that merges rows of a table has
to compute it from the merged count, not from that of each row.

Source: docs/spec/query-endpoints.md#73-how-variables-are-stored.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeGuard

from hoglet.hogql.ast_builders import Expression, changed, walk
from hoglet.hogql.frontend.print_hogql import print_expression
from hoglet.hogql.functions import find_function
from hoglet.hogql.materialize.refusal import Refusal
from hoglet.syntax import tree

_MOST: Final = 1_000
"""References that are written out; each of ``a + a AS b, b + b AS c, …`` doubles the text."""
_MOST_NESTED: Final = 100
"""More names inside names than a query that can be run has."""
_OF_COLUMNS: Final = (tree.SelectQuery, tree.SelectSetQuery)
"""In subqueries, the name is that of a column."""


def aggregates_in(node: Any) -> list[tree.Call]:
    """Aggregate calls of an expression itself, without those of subqueries and behind names."""
    return [each for each in _own(node) if _is_aggregate(each)]


def aggregates_of(select: tree.SelectQuery) -> list[tree.Call]:
    """Aggregate calls of the columns of a select; raises as ``written_out``."""
    return aggregates_in(tuple(written_out(select).columns))


def is_aggregated(select: tree.SelectQuery) -> bool:
    """Whether a select groups rows; raises as ``written_out``."""
    return bool(select.group_by or select.group_by_mode or aggregates_of(select))


class WrittenOut(NamedTuple):
    """The columns of a select without their names and without names of aggregates.

    ``positions`` has the column in whose text each aggregate is, by ``id``: the names of the
    columns after that one were not known there.
    """

    columns: list[Expression]
    positions: dict[int, int]


def written_out(select: tree.SelectQuery) -> WrittenOut:
    """The columns of a select.

    Raises:
        Refusal: they get too long, or a field of a named aggregate is read.
    """
    names = _Names(select)
    none = frozenset[str]()
    columns = [names.written_out(each, n, none) for n, each in enumerate(select.select)]
    return WrittenOut(columns, names.positions)


class _Named(NamedTuple):
    """An expression with a name, in the text of the column ``position``.

    Columns from ``known_from`` on can refer to it.
    """

    expr: Expression
    position: int
    known_from: int


class _Names:
    """The expressions that the columns of a select can refer to by name."""

    def __init__(self, select: tree.SelectQuery) -> None:
        self.positions: dict[int, int] = {}
        self._named = defaultdict[str, list[_Named]](list)
        self._parts = defaultdict[str, list[_Named]](list)
        for cte in select.ctes or ():
            if cte.cte_type == "column":
                self._parts[cte.name].append(_Named(cte.expr, 0, 0))
        for position, item in enumerate(select.select):
            for each in _aliases(item):
                if each is item:
                    self._named[each.alias].append(_Named(each.expr, position, position + 1))
                else:
                    self._parts[each.alias].append(_Named(each.expr, position, position))
        self._aggregated: dict[tuple[str, int], bool] = {}
        self._left = _MOST

    def written_out(self, node: Any, position: int, hidden: frozenset[str]) -> Any:
        """A node with the aggregates that it refers to.

        Args:
            node: a node, a tuple of nodes, or a value.
            position: the column in whose text it is.
            hidden: names that mean something else there.
        """
        while isinstance(node, tree.Alias):
            node = node.expr
        if isinstance(node, tree.Field):
            return self._field(node, position, hidden)
        if isinstance(node, tuple):
            return tuple(self.written_out(item, position, hidden) for item in node)
        if not isinstance(node, tree.Node) or isinstance(node, _OF_COLUMNS):
            return node
        if _is_aggregate(node):
            self.positions[id(node)] = position
            return node  # there, too, the name is that of a column
        if isinstance(node, tree.Lambda):
            hidden |= set(node.args)
        names = [name for name in node.__struct_fields__ if name not in {"start", "end"}]
        return changed(
            node,
            **{name: self.written_out(getattr(node, name), position, hidden) for name in names},
        )

    def _field(self, node: tree.Field, position: int, hidden: frozenset[str]) -> Expression:
        name = str(node.chain[0])
        named = None if name in hidden else self._meant(name, position)
        if named is None or not self._is_aggregated(name, named, 0):
            return node
        self._left -= 1
        if len(node.chain) > 1 or self._left < 0:
            raise Refusal(f"'{print_expression(node)}' cannot be re-aggregated from parts")
        return self.written_out(named.expr, named.position, hidden | {name})

    def _meant(self, name: str, position: int) -> _Named | None:
        """What a name means in a column, if it is not that of a column of a table.

        The first meaning counts; names of columns before those of their parts and of WITH.
        """
        several = (*self._named[name], *self._parts[name])
        return next((each for each in several if each.known_from <= position), None)

    def _is_aggregated(self, name: str, named: _Named, nested: int) -> bool:
        """Whether a named expression has aggregates, also through other names."""
        if nested > _MOST_NESTED:
            raise Refusal(f"'{name}' is nested too deeply")
        key = name, id(named.expr)
        if key not in self._aggregated:
            self._aggregated[key] = False  # if it refers to itself
            fields = [each for each in walk(named.expr) if isinstance(each, tree.Field)]
            others = {str(each.chain[0]) for each in fields}
            meant = ((other, self._meant(other, named.position)) for other in others)
            self._aggregated[key] = bool(aggregates_in(named.expr)) or any(
                inner is not None and self._is_aggregated(other, inner, nested + 1)
                for other, inner in meant
            )
        return self._aggregated[key]


def _aliases(node: Any) -> Iterator[tree.Alias]:
    """The names that an expression gives to itself and its parts."""
    return (each for each in _own(node) if isinstance(each, tree.Alias))


def _is_aggregate(node: Any) -> TypeGuard[tree.Call]:
    function = find_function(node.name) if isinstance(node, tree.Call) else None
    return function is not None and function.aggregate


def _own(node: Any) -> Iterator[tree.Node]:
    """A node and its parts, without subqueries."""
    if isinstance(node, tree.SelectQuery | tree.SelectSetQuery):
        return
    if isinstance(node, tree.Node):
        yield node
        for name in node.__struct_fields__:
            if name not in {"start", "end"}:
                yield from _own(getattr(node, name))
    elif isinstance(node, tuple):
        for item in node:
            yield from _own(item)
