"""Every refusal of a query: a ``SourceError`` with a position, a code of spec 5.8 and a hint."""

import difflib
from collections.abc import Iterable
from typing import Any

from hoglet.kit.errors import SourceError

SYNTAX = "hogql_syntax_error"
QUERY = "hogql_query_error"
UNKNOWN_TABLE = "unknown_table"
UNKNOWN_FUNCTION = "unknown_function"
TABLE_DENIED = "table_access_denied"
ARITY = "number_of_arguments_doesnt_match"
TYPE_MISMATCH = "type_mismatch"
NOT_AGGREGATE = "not_an_aggregate"
ILLEGAL_AGGREGATION = "illegal_aggregation"


def refused(
    message: str, node: Any = None, *, code: str = QUERY, hint: str | None = None
) -> SourceError:
    """An error at ``node``'s place (any syntax node, or None for the start of the text)."""
    start = getattr(node, "start", None)
    end = getattr(node, "end", None)
    if start is None:
        return SourceError(message, code=code, hint=hint)
    return SourceError(
        message,
        line=start.line,
        column=start.column + 1,
        start=start.offset,
        end=end.offset if end else start.offset,
        hint=hint,
        code=code,
    )


def near(name: str, known: Iterable[str]) -> str:
    """``" Did you mean 'event'?"`` for the closest known name, or nothing.

    Example:
        >>> near("evnt", ["event", "uuid"])
        " Did you mean 'event'?"
    """
    found = difflib.get_close_matches(str(name), [str(item) for item in known], n=1)
    return f" Did you mean '{found[0]}'?" if found else ""


def unknown_field(name: str, node: Any, known: Iterable[str], where: str) -> SourceError:
    """A name that is neither a column nor an alias of what the select reads."""
    return refused(f"Unable to resolve field: {name} ({where}).{near(name, known)}", node)


def unknown_table(name: str, node: Any, known: Iterable[str]) -> SourceError:
    """A table that does not exist for this project."""
    return refused(f'Unknown table "{name}".{near(name, known)}', node, code=UNKNOWN_TABLE)


def unknown_function(name: str, node: Any, known: Iterable[str]) -> SourceError:
    """A function that is not on the allow-list."""
    return refused(
        f"Unsupported function call '{name}(...)'.{near(name, known)}", node, code=UNKNOWN_FUNCTION
    )
