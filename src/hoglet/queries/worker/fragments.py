"""Parses fragments of queries: a column, or an item of ORDER BY.

Each is parsed in a query of its own, on the second line, so that it cannot affect other parts and
errors have its own positions.
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
"""Code of an error about a key of a query; its attr is the path in the query."""

_COLUMN = "SELECT\n"
_ORDERING = "SELECT 1 ORDER BY\n"
_ORDERED = frozenset({"select", "order_by", "start", "end"})


@contextmanager
def placed(where: str) -> Generator[None]:
    """Add a prefix to errors raised inside: ``select[0]: Unable to resolve field: nope``."""
    try:
        yield
    except SourceError as error:
        error.message = f"{where}: {error.message}"
        raise


@contextmanager
def about_keys() -> Generator[None]:
    """Convert errors with a path to errors about keys of the query."""
    try:
        yield
    except SourceError as error:
        if error.attr is not None:
            error.error_code = PLACE
        raise


def read_column(text: str) -> tree.Expression:
    """Parse a column or condition.

    Raises:
        SourceError: it is not a single expression.
    """
    parsed = _read(_COLUMN, text)
    if _clauses(parsed) != {"select"} or len(parsed.select) != 1:
        raise refused("This must be one expression", code=SYNTAX)
    return parsed.select[0]


def read_ordering(text: str) -> tuple[tree.Expression, str, str]:
    """Parse an item of ORDER BY: its expression, its text, and ``ASC`` or ``DESC``.

    Raises:
        SourceError: it is not a single item.
    """
    parsed = _read(_ORDERING, text)
    items = parsed.order_by or ()
    if not _clauses(parsed) <= _ORDERED or len(items) != 1 or len(parsed.select) != 1:
        raise refused("This must be one expression with ASC or DESC", code=SYNTAX)
    words = text.split()
    has_direction = len(words) > 1 and words[-1].upper() in {"ASC", "DESC"}
    core = text.strip()[: -len(words[-1])].strip() if has_direction else text.strip()
    if core == "*":
        raise refused("'*' cannot be used in ORDER BY", code=SYNTAX)
    return items[0].expr, core, items[0].order


def _read(before: str, text: str) -> tree.SelectQuery:
    try:
        parsed = read_query(f"{before}{text}\n")
    except SourceError as error:
        _shift(error, len(before))
        raise
    for node in walk(parsed):
        if isinstance(node, tree.Placeholder):
            raise refused(
                "Placeholders are not supported in events queries: use the value", code=SYNTAX
            )
    if not isinstance(parsed, tree.SelectQuery):
        raise refused("This must be one expression", code=SYNTAX)
    return parsed


def _shift(error: SourceError, count: int) -> None:
    error.line = max(error.line - 1, 1)
    error.start, error.end = max(error.start - count, 0), max(error.end - count, 0)


def _clauses(parsed: tree.SelectQuery) -> set[str]:
    """The clauses of a query."""
    return {
        name
        for name in parsed.__struct_fields__
        if name not in {"start", "end"} and _is_given(getattr(parsed, name))
    }


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and value not in ((), {})
