"""Texts that are a part of a query: one column, one item of ORDER BY.

Each is parsed in a query of its own, on the second line, so that nothing of it can reach beyond
its place and errors have the line and the column of the part itself.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from hoglet.hogql.ast_builders import walk
from hoglet.hogql.errors import SYNTAX, refused
from hoglet.hogql.frontend.preprocess import read_query
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree

PLACE = "place"
"""Code of an error about a key of a node; its attr is the path in the node."""

_COLUMN = "SELECT\n"
_ORDERING = "SELECT 1 ORDER BY\n"
_ORDERED = frozenset({"select", "order_by", "start", "end"})


@contextmanager
def placed(where: str) -> Generator[None]:
    """Errors inside name the part: ``select[0]: Unable to resolve field: nope``."""
    try:
        yield
    except SourceError as error:
        error.message = f"{where}: {error.message}"
        raise


@contextmanager
def about_keys() -> Generator[None]:
    """Errors inside that have a path are about keys of the node, not about HogQL."""
    try:
        yield
    except SourceError as error:
        if error.attr is not None:
            error.error_code = PLACE
        raise


def read_column(text: str) -> tree.Expression:
    """One column or condition.

    Raises:
        SourceError: it is none, or more than that.
    """
    parsed = _read(_COLUMN, text)
    if _clauses(parsed) != {"select"} or len(parsed.select) != 1:
        raise refused("This must be one expression", code=SYNTAX)
    return parsed.select[0]


def read_ordering(text: str) -> tuple[tree.Expression, str, str]:
    """One item of ORDER BY: its expression, its text, and ``ASC`` or ``DESC``.

    Raises:
        SourceError: it is none, or more than that.
    """
    parsed = _read(_ORDERING, text)
    items = parsed.order_by or ()
    if not _clauses(parsed) <= _ORDERED or len(items) != 1 or len(parsed.select) != 1:
        raise refused("This must be one expression with ASC or DESC", code=SYNTAX)
    words = text.split()
    has_direction = len(words) > 1 and words[-1].upper() in {"ASC", "DESC"}
    core = text.strip()[: -len(words[-1])].strip() if has_direction else text.strip()
    if core == "*":
        raise refused("Order by a column: '*' is several", code=SYNTAX)
    return items[0].expr, core, items[0].order


def _read(before: str, text: str) -> tree.SelectQuery:
    try:
        parsed = read_query(f"{before}{text}\n")
    except SourceError as error:
        _shift(error, len(before))
        raise
    for node in walk(parsed):
        if isinstance(node, tree.Placeholder):
            raise refused("An events query has no placeholders: write the value", code=SYNTAX)
    if not isinstance(parsed, tree.SelectQuery):
        raise refused("This must be one expression", code=SYNTAX)
    return parsed


def _shift(error: SourceError, count: int) -> None:
    error.line = max(error.line - 1, 1)
    error.start, error.end = max(error.start - count, 0), max(error.end - count, 0)


def _clauses(parsed: tree.SelectQuery) -> set[str]:
    """Which clauses a query has."""
    return {
        name
        for name in parsed.__struct_fields__
        if name not in {"start", "end"} and _is_given(getattr(parsed, name))
    }


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and value not in ((), {})
