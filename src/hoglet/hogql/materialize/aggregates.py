"""Finds the aggregates of a select, also behind names.

In ``count() AS n, n * 2`` the second column aggregates, too: a run that merges rows of a table has
to compute it from the merged count, not from that of each row.

Source: docs/spec/query-endpoints.md#73-how-variables-are-stored.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeGuard

from hoglet.hogql.ast_builders import Expression, changed, walk
from hoglet.hogql.frontend.print_hogql import print_expression
from hoglet.hogql.functions import find_function
from hoglet.hogql.materialize.refusal import Refusal
from hoglet.syntax import tree

_MOST: Final = 1_000
"""References that are written out; each of ``a + a AS b, b + b AS c, …`` doubles the text."""


def aggregates_in(node: Any) -> list[tree.Call]:
    """Aggregate calls of an expression itself, without those of subqueries and behind names."""
    return [each for each in _own(node) if _is_aggregate(each)]


def aggregates_of(select: tree.SelectQuery) -> list[tree.Call]:
    """Aggregate calls of the columns of a select; raises as ``written_out``."""
    return aggregates_in(tuple(written_out(select)))


def is_aggregated(select: tree.SelectQuery) -> bool:
    """Whether a select groups rows; raises as ``written_out``."""
    return bool(select.group_by or select.group_by_mode or aggregates_of(select))


def written_out(select: tree.SelectQuery) -> list[Expression]:
    """The columns of a select, without their names and without aliases of aggregates.

    Raises:
        Refusal: they get too long, or a field of such an alias is read.
    """
    names = _Names(select)
    return [names.written_out(item) for item in select.select]


class _Names:
    """The expressions that the columns of a select can refer to by name."""

    def __init__(self, select: tree.SelectQuery) -> None:
        self._exprs: dict[str, Expression] = {
            cte.name: cte.expr for cte in select.ctes or () if cte.cte_type == "column"
        }
        for item in select.select:
            self._exprs |= {each.alias: each.expr for each in _aliases(item)}
        for item in select.select:
            if isinstance(item, tree.Alias):
                self._exprs[item.alias] = item.expr
        self._aggregated: dict[str, bool] = {}
        self._left = _MOST

    def written_out(self, node: Any, hidden: frozenset[str] = frozenset()) -> Any:
        """A node with the aggregates that it refers to; ``hidden`` names mean something else."""
        if isinstance(node, tree.Alias):
            return self.written_out(node.expr, hidden)
        if isinstance(node, tree.Field):
            return self._field(node, hidden)
        if isinstance(node, tree.SelectQuery | tree.SelectSetQuery) or _is_aggregate(node):
            return node  # there, the name is that of a column
        if isinstance(node, tree.Lambda):
            hidden |= set(node.args)
        if isinstance(node, tree.Node):
            names = [name for name in node.__struct_fields__ if name not in {"start", "end"}]
            parts = {name: self.written_out(getattr(node, name), hidden) for name in names}
            return changed(node, **parts)
        if isinstance(node, tuple):
            return tuple(self.written_out(item, hidden) for item in node)
        return node

    def _field(self, node: tree.Field, hidden: frozenset[str]) -> Expression:
        name = str(node.chain[0])
        if name in hidden or not self._is_aggregated(name):
            return node
        self._left -= 1
        if len(node.chain) > 1 or self._left < 0:
            raise Refusal(f"'{print_expression(node)}' cannot be re-aggregated from parts")
        return self.written_out(self._exprs[name], hidden | {name})

    def _is_aggregated(self, name: str) -> bool:
        """Whether a name means an expression with aggregates, also through other names."""
        if name not in self._aggregated:
            self._aggregated[name] = False  # if it refers to itself
            expr = self._exprs.get(name)
            self._aggregated[name] = bool(aggregates_in(expr)) or any(
                self._is_aggregated(str(each.chain[0]))
                for each in walk(expr)
                if isinstance(each, tree.Field)
            )
        return self._aggregated[name]


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
