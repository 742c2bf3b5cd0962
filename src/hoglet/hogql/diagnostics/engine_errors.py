"""Explains errors of the engine: what to change in the query, and where.

The engine reports neither the position nor the original text. Its message contains a function,
column or constant; the first such call, field or constant in the text is the position.

Source: docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation row 13;
docs/spec/data-and-queries.md#18-for-editors.
"""

import re
from typing import Any

import msgspec

from hoglet.hogql.diagnostics.engine_terms import plain, shows_inside
from hoglet.hogql.diagnostics.number_messages import NUMBER_KINDS
from hoglet.hogql.diagnostics.positions import called, names_of
from hoglet.hogql.diagnostics.read_messages import READ_KINDS
from hoglet.hogql.diagnostics.structure_messages import STRUCTURE_KINDS
from hoglet.hogql.diagnostics.type_messages import TYPE_KINDS
from hoglet.hogql.diagnostics.value_messages import VALUE_KINDS
from hoglet.hogql.errors import refused
from hoglet.kit.errors import SourceError

_KINDS = READ_KINDS + STRUCTURE_KINDS + NUMBER_KINDS + TYPE_KINDS + VALUE_KINDS


class Diagnostic(msgspec.Struct, frozen=True):
    """An entry of ``HogQLMetadata`` for characters ``[start, end)`` of the query."""

    message: str
    start: int
    end: int


def problem_of(error: SourceError, source: str) -> Diagnostic:
    """An error for editors; without a position it spans the whole query."""
    message = error.message if not error.hint else f"{error.message.rstrip('.')}. {error.hint}"
    if error.end <= error.start:
        return Diagnostic(message, 0, len(source))
    return Diagnostic(message, error.start, error.end)


def explain(message: str, code: str, query: Any) -> SourceError:
    """Translate an error of the engine to an error of the query.

    Args:
        message: the engine's message.
        code: one of the codes of runs, unchanged.
        query: the parsed query, or a tuple of a query and the expressions of its filters.
    """
    for pattern, build in _KINDS:
        match = pattern.search(message)
        if match is not None:
            return build(match, code, query)
    node = called(message, query)
    text = _in_their_words(plain(message), node)
    if shows_inside(text):
        name = getattr(node, "name", "")
        about = f" by {name}()" if name else ""
        text = f"A value or an argument has the wrong format{about}."
    return refused(text, node, code=code)


def _in_their_words(text: str, node: Any) -> str:
    """The message with the function named as in the query."""
    written = getattr(node, "name", None)
    if written is None:
        return text
    for name in sorted(names_of(written) - {written}, key=len, reverse=True):
        text = re.sub(rf"(?<![\w']){re.escape(name)}\b", written, text)
    return text
