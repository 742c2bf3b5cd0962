"""Columns of events queries: HogQL with titles, or objects assembled from several columns."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from hoglet.hogql.ast_builders import field, walk
from hoglet.hogql.frontend.fragments import read_column
from hoglet.hogql.frontend.print_hogql import print_expression
from hoglet.hogql.functions.registry import find_function
from hoglet.queries.worker.special_columns import NAME, SPECIAL
from hoglet.syntax import tree

_COMMENT = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|--(?P<title>[^\n]*)\Z"""
)
"""The comment at the end of a column, or a string or name to skip."""


class Item(NamedTuple):
    """A parsed column.

    ``parts`` are its columns in the query, ``kind`` how they are assembled, ``path`` its key in the
    query: ``select__0``.
    """

    path: str
    title: str
    parts: tuple[str, ...]
    kind: str
    node: tree.Expression | None
    is_aggregate: bool

    @property
    def key(self) -> tuple[str, ...]:
        """The GROUP BY expression; None for constants, whose text could be a position."""
        if self.node is None:
            return self.parts
        if isinstance(self.node, tree.Alias):
            return (_named(self.node),) if _reads(self.node) else ()
        return self.parts if _reads(self.node) else ()

    @property
    def reference(self) -> str:
        """The ORDER BY expression: the alias, else the first part."""
        return _named(self.node) if isinstance(self.node, tree.Alias) else self.parts[0]


def read_items(select: list[str], names: str) -> list[Item]:
    """Parse ``select``.

    Args:
        select: as sent: ``["event", "count() AS n -- Total"]``.
        names: HogQL for display names of persons.

    Raises:
        SourceError: an invalid column.
    """
    items = [_item(text, index, names) for index, text in enumerate(select)]
    previous: frozenset[str] | None = None
    while previous != (known := total_names(items)):
        previous = known  # a column that refers to an aggregate is one too, and can be referred to
        items = [each._replace(is_aggregate=holds_aggregate(each.node, known)) for each in items]
    return items


def total_names(items: list[Item]) -> frozenset[str]:
    """The names of aggregate columns."""
    named = (each.node for each in items if each.is_aggregate)
    return frozenset(node.alias for node in named if isinstance(node, tree.Alias))


def _item(text: str, index: int, names: str) -> Item:
    code, title = _titled(text)
    path, name = f"select__{index}", code.strip()
    special = SPECIAL.get(name)
    if special is not None:
        parts = tuple(part.replace(NAME, names) for part in special)
        return Item(path, title or name, parts, name, None, is_aggregate=False)
    node = read_column(code, path)
    return Item(path, title or name, (code,), "value", node, is_aggregate=holds_aggregate(node))


def _titled(text: str) -> tuple[str, str]:
    """Split a column and the title in its comment: ``event -- Name``."""
    for match in _COMMENT.finditer(text):
        if match["title"] is not None:
            return text[: match.start()].rstrip(), match["title"].strip()
    return text.rstrip(), ""


def holds_aggregate(node: Any, totals: frozenset[str] = frozenset()) -> bool:
    """Whether an expression aggregates rows of its own query, excluding windows and subqueries.

    ``totals`` are names of aggregates.
    """
    if isinstance(node, tree.SelectQuery | tree.SelectSetQuery):
        return False
    if isinstance(node, tree.Call):
        function = find_function(node.name)
        if function is not None and function.aggregate:
            return True
    if isinstance(node, tree.Field):
        return len(node.chain) == 1 and node.chain[0] in totals
    inside: Iterable[Any] = ()
    if isinstance(node, tree.Node):
        inside = (getattr(node, name) for name in node.__struct_fields__)
    elif isinstance(node, tuple | dict):
        inside = node.values() if isinstance(node, dict) else node
    return any(holds_aggregate(each, totals) for each in inside)


def _named(node: tree.Alias) -> str:
    return print_expression(field(node.alias))


def _reads(node: Any) -> bool:
    return any(isinstance(each, tree.Field) for each in walk(node))
