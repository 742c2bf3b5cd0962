"""Expressions of JSON queries: parses columns and items of ORDER BY, and joins them into one text.

Each is parsed in a query of its own, on the second line, so that it cannot affect other parts and
errors have its own positions.
"""

from typing import Any, NamedTuple

from hoglet.hogql.ast_builders import walk
from hoglet.hogql.errors import SYNTAX, Fragment, in_expression, refused
from hoglet.hogql.frontend.preprocess import read_query
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree

_COLUMN = "SELECT\n"
_ORDERING = "SELECT 1 ORDER BY\n"
_ORDERED = frozenset({"select", "order_by", "start", "end"})


class QueryText:
    """HogQL text assembled from generated clauses and expressions of the user.

    ``fragments`` are the expressions, for errors of the whole text.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self.fragments: list[Fragment] = []

    def add(self, text: str, path: str | None = None) -> None:
        """Append a text; ``path`` is its key if the user wrote it: ``where__1``."""
        if path is not None:
            self.fragments.append(Fragment(path, self._length, text))
        self._parts.append(text)
        self._length += len(text)

    def __str__(self) -> str:
        return "".join(self._parts)


def read_column(text: str, path: str) -> tree.Expression:
    """Parse a column or condition; ``path`` is its key, for errors.

    Raises:
        SourceError: it is not a single expression.
    """
    parsed = _read(_COLUMN, text, path)
    if _clauses(parsed) != {"select"} or len(parsed.select) != 1:
        raise refused("Expected a single expression", code=SYNTAX, attr=path)
    return parsed.select[0]


class Ordered(NamedTuple):
    """An item of ORDER BY; ``text`` is its expression as sent, without ASC or DESC."""

    item: tree.OrderExpr
    text: str


def read_ordering(text: str, path: str) -> Ordered:
    """Parse an item of ORDER BY; ``path`` is its key, for errors.

    Raises:
        SourceError: it is not a single item.
    """
    parsed = _read(_ORDERING, text, path)
    items = parsed.order_by or ()
    if not _clauses(parsed) <= _ORDERED or len(items) != 1 or len(parsed.select) != 1:
        raise refused(
            "Expected one expression, optionally with ASC or DESC", code=SYNTAX, attr=path
        )
    words = text.split()
    has_direction = len(words) > 1 and words[-1].upper() in {"ASC", "DESC"}
    core = text.strip()[: -len(words[-1])].strip() if has_direction else text.strip()
    if core == "*":
        raise refused("'*' cannot be used in ORDER BY", code=SYNTAX, attr=path)
    return Ordered(items[0], core)


def _read(before: str, text: str, path: str) -> tree.SelectQuery:
    try:
        parsed = read_query(f"{before}{text}\n")
    except SourceError as error:
        raise in_expression(error, path, text, len(before)) from None
    for node in walk(parsed):
        if isinstance(node, tree.Placeholder):
            problem = refused(
                "Placeholders are not supported here: use the value", node, code=SYNTAX
            )
            raise in_expression(problem, path, text, len(before))
    if not isinstance(parsed, tree.SelectQuery):
        raise refused("Expected a single expression", code=SYNTAX, attr=path)
    return parsed


def _clauses(parsed: tree.SelectQuery) -> set[str]:
    """The clauses of a query."""
    return {
        name
        for name in parsed.__struct_fields__
        if name not in {"start", "end"} and _is_given(getattr(parsed, name))
    }


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and value not in ((), {})
