"""Explains rejected reads: parts of tuples, and columns of an outer query."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from hoglet.hogql.ast_builders import walk
from hoglet.hogql.diagnostics.engine_terms import types_of_hogql
from hoglet.hogql.errors import refused
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree

_BY_POSITION = "parts without names are read by position, e.g. .1"

type Kind = Callable[[re.Match[str], str, Any], SourceError]
"""Builds the error from a match of the message, the code and the query."""


def _no_object(match: re.Match[str], code: str, query: Any) -> SourceError:
    node = next(_deep_reads(query), None)
    kind = types_of_hogql(match["type"]).strip()
    part = "A part" if node is None else f"'{'.'.join(map(str, node.chain[1:]))}'"
    hint = None
    if match["type"].lower().startswith("tuple"):
        hint = "read parts of a tuple by position, e.g. .1, or by tupleElement(x, 'name')"
    message = f"{part} cannot be read from a value of type {kind}"
    return refused(message, node, code=code, hint=hint)


def _deep_reads(query: Any) -> Iterator[tree.Field]:
    """Reads ``x.item`` of lambda arguments, whose types only the engine knows."""
    for each in walk(query):
        if not isinstance(each, tree.Lambda):
            continue
        for node in walk(each.expr):
            if isinstance(node, tree.Field) and node.chain[0] in each.args and node.chain[1:]:
                yield node


def _no_part(match: re.Match[str], code: str, query: Any) -> SourceError:
    name = match["name"]
    node = next(
        (each for each in walk(query) if isinstance(each, tree.Constant) and each.value == name),
        None,
    )
    return refused(f"The tuple has no part named '{name}'", node, code=code, hint=_BY_POSITION)


def _correlated(_match: re.Match[str], code: str, query: Any) -> SourceError:
    message = "A subquery cannot use columns of the outer query here"
    return refused(message, _subquery(query), code=code, hint="join a grouped query instead")


def _not_grouped(_match: re.Match[str], code: str, query: Any) -> SourceError:
    message = "A subquery of a grouped query can read columns of GROUP BY only"
    hint = "aggregate its value: any((SELECT ...))"
    return refused(message, _subquery(query), code=code, hint=hint)


def _subquery(query: Any) -> Any:
    """The first subquery that is used as a value."""
    for each in walk(query):
        if isinstance(each, tree.SelectQuery):
            places = (*each.select, each.where, each.having, *(each.order_by or ()))
            for node in walk(places):
                if isinstance(node, tree.SelectQuery):
                    return node
    return None


def _no_tuple(_match: re.Match[str], code: str, query: Any) -> SourceError:
    parts = tree.TupleAccess | tree.Call
    node = next(
        (
            each
            for each in walk(query)
            if isinstance(each, parts) and getattr(each, "name", "tupleElement") == "tupleElement"
        ),
        None,
    )
    message = "Only tuples have parts by position"
    return refused(message, node, code=code, hint="read list items with brackets: list[1]")


READ_KINDS: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (
        re.compile(
            r"JSONType should be a string containing JSON or a JSON object, illegal type: "
            r"(?P<type>[\w(), ]+)"
        ),
        _no_object,
    ),
    (re.compile(r"Tuple doesn't have element with name '(?P<name>[^']*)'"), _no_part),
    (re.compile(r"Column '[^']*subquery_\d+' is not under aggregate function"), _not_grouped),
    (re.compile(r"First argument for function tupleElement must be"), _no_tuple),
    (re.compile(r"Correlated subquer|Cannot decorrelate"), _correlated),
)
"""Patterns of messages, each with the function that builds the error."""
