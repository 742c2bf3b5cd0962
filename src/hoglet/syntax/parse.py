"""Parses text into trees, with the package ``hogql_parser_rs``.

Each function checks the limits, parses, and decodes into frozen structs. Every failure is a
:class:`~hoglet.kit.errors.SourceError` with a position. Parse untrusted text only in a worker
process with a deadline: many small costly pieces within the limits can still add up.

Source: docs/spec/hog-language.md#13-parser.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec
from hogql_parser_rs import (
    parse_expr_json,  # pyright: ignore[reportAttributeAccessIssue] (native module)
    parse_full_template_string_json,  # pyright: ignore[reportAttributeAccessIssue] (native module)
    parse_program_json,  # pyright: ignore[reportAttributeAccessIssue] (native module)
    parse_select_json,  # pyright: ignore[reportAttributeAccessIssue] (native module)
)

from hoglet.kit.errors import SourceError, SourceSpan
from hoglet.syntax import tree
from hoglet.syntax.block_errors import FUNCTION_HEAD, error_in_blocks
from hoglet.syntax.limits import check_caps, check_template_caps
from hoglet.syntax.refusals import (
    INSTEAD,
    foreign_sign,
    hint_for,
    in_words,
    plain_message,
    unknown_part,
)
from hoglet.syntax.source_span import source_span
from hoglet.syntax.tree import Node, Position

_program = msgspec.json.Decoder(tree.Program)
_expression: msgspec.json.Decoder[Any] = msgspec.json.Decoder(tree.Expression)
_query: msgspec.json.Decoder[Any] = msgspec.json.Decoder(tree.Query)
_TEMPLATE_PREFIX = "F'"


def parse_program(source: str) -> tree.Program:
    """Parse a whole Hog program.

    Raises:
        SourceError: the text does not parse, or exceeds a limit.
    """
    check_caps(source)
    try:
        return _parse(parse_program_json, source, _program, source)
    except SourceError as error:
        error = error_in_blocks(source, error, partial(_parse_block, source))
        raise _in_words(_at_foreign_sign(error, source), source, "program") from None


def _parse_block(source: str, text: str) -> None:
    _parse(parse_program_json, text, _program, source, len(FUNCTION_HEAD))


def parse_expression(source: str) -> tree.Expression:
    """Parse one expression, e.g. a filter condition.

    Raises:
        SourceError: the text does not parse, or exceeds a limit.
    """
    try:
        return parse_query_expression(source)
    except SourceError as error:
        raise _in_words(error, source, "expression") from None


def parse_query_expression(source: str) -> tree.Expression:
    """Parse an expression of HogQL.

    Raises:
        SourceError: the text does not parse, with the parser's message, or exceeds a limit.
    """
    check_caps(source)
    try:
        return _parse(parse_expr_json, source, _expression, source)
    except SourceError as error:
        raise _at_foreign_sign(error, source) from None


def parse_query(source: str) -> tree.Query:
    """Parse one HogQL query.

    Raises:
        SourceError: the text does not parse, with the parser's message, or exceeds a limit.
    """
    check_caps(source)
    try:
        return _parse(parse_select_json, source, _query, source)
    except SourceError as error:
        raise _at_foreign_sign(error, source) from None


def parse_template(text: str) -> tree.Expression:
    """Parse a template, e.g. ``Hello {person.name}``. Positions are those of ``text``.

    Raises:
        SourceError: the text does not parse, or exceeds a limit.
    """
    check_template_caps(text)
    prefix = len(_TEMPLATE_PREFIX)
    full = _TEMPLATE_PREFIX + text
    try:
        parsed = _parse(parse_full_template_string_json, full, _expression, text, prefix)
    except SourceError as error:
        raise _in_words(error, text, "template") from None
    return shift_back(parsed, prefix)


def _at_foreign_sign(error: SourceError, source: str) -> SourceError:
    """The error, or one at the sign that the language lacks and that led the parser astray."""
    if not error.message.startswith("expected "):
        return error
    at = foreign_sign(source, error.start)
    if at is None:
        return error
    message = f"unexpected character '{source[at]}' (U+{ord(source[at]):04X})"
    return SourceError(message, source_span(source, at, at + 1), hint=hint_for(source, at))


def _in_words(error: SourceError, source: str, what: str) -> SourceError:
    error.message = in_words(error.message, source, error.start, what=what)
    return error


def _parse(
    parser: Callable[[str], str],
    full: str,
    decoder: msgspec.json.Decoder[Any],
    source: str,
    prefix: int = 0,
) -> Any:
    """Parse ``full``; errors refer to ``source``, which starts ``prefix`` characters later."""
    answer = parser(full)
    try:
        return decoder.decode(answer)
    except msgspec.ValidationError as error:
        raise _as_source_error(answer, source, prefix, error) from None
    except RecursionError:
        raise SourceError("The source is nested too deeply", SourceSpan(end=len(source))) from None


def _as_source_error(
    answer: str, source: str, prefix: int, error: msgspec.ValidationError
) -> SourceError:
    failure = msgspec.json.decode(answer)
    if not failure.get("error"):
        what, start, end = unknown_part(failure, str(error))
        span = source_span(source, start - prefix, (len(source) if end is None else end) - prefix)
        return SourceError(f"{what} is not supported", span, hint=INSTEAD.get(what))
    start = (failure.get("start") or {}).get("offset", 0)
    end = (failure.get("end") or {}).get("offset", start)
    span = source_span(source, start - prefix, end - prefix)
    message = plain_message(failure["message"])
    instead = INSTEAD.get(message.removesuffix(" is not supported"))
    return SourceError(message, span, hint=instead or hint_for(source, span.start))


def shift_back[Tree: Node](node: Tree, count: int) -> Tree:
    """A copy of ``node`` whose offsets, and columns on line 1, are ``count`` less.

    Positions before the text become the start of the text.
    """
    return _shift(node, count)


def _shift(value: Any, count: int) -> Any:
    if isinstance(value, Position):
        return _shift_position(value, count)
    if isinstance(value, tuple):
        return tuple([_shift(item, count) for item in value])
    if isinstance(value, dict):
        return {key: _shift(item, count) for key, item in value.items()}
    if not isinstance(value, Node):
        return value
    changes = {name: _shift(getattr(value, name), count) for name in value.__struct_fields__}
    return msgspec.structs.replace(value, **changes)


def _shift_position(position: Position, count: int) -> Position:
    column = position.column - count if position.line == 1 else position.column
    return Position(
        line=position.line, column=max(0, column), offset=max(0, position.offset - count)
    )
