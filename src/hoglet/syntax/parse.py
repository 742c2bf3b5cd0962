"""Text to tree, by the package ``hogql_parser_rs``.

Each function checks the caps first, then parses, then decodes into frozen structs. Every failure
is a :class:`~hoglet.kit.errors.SourceError` with a position.

Source: spec/hog-language.md section 13.
"""

from typing import Any

import msgspec
from hogql_parser_rs import (
    parse_expr_json,  # pyright: ignore[reportAttributeAccessIssue] (native module)
    parse_full_template_string_json,  # pyright: ignore[reportAttributeAccessIssue] (native module)
    parse_program_json,  # pyright: ignore[reportAttributeAccessIssue] (native module)
    parse_select_json,  # pyright: ignore[reportAttributeAccessIssue] (native module)
)

from hoglet.kit.errors import SourceError
from hoglet.syntax import tree

_program = msgspec.json.Decoder(tree.Program)
_expression: msgspec.json.Decoder[Any] = msgspec.json.Decoder(tree.Expression)
_query: msgspec.json.Decoder[Any] = msgspec.json.Decoder(tree.Query)


def parse_program(source: str) -> tree.Program:
    """Parse a whole Hog program.

    Raises:
        SourceError: the text does not parse, or is over a cap.
    """
    return _decode(parse_program_json(source), _program, source)


def parse_expression(source: str) -> "tree.Expression":
    """Parse one expression, e.g. a filter condition.

    Raises:
        SourceError: the text does not parse, or is over a cap.
    """
    return _decode(parse_expr_json(source), _expression, source)


def parse_query(source: str) -> "tree.Query":
    """Parse one HogQL query.

    Raises:
        SourceError: the text does not parse, or is over a cap.
    """
    return _decode(parse_select_json(source), _query, source)


def parse_template(text: str) -> "tree.Expression":
    """Parse a template text, e.g. ``Hello {person.name}``.

    Raises:
        SourceError: the text does not parse, or is over a cap.
    """
    return _decode(parse_full_template_string_json("F'" + text), _expression, text)


def _decode(answer: str, decoder: msgspec.json.Decoder[Any], source: str) -> Any:
    try:
        return decoder.decode(answer)
    except msgspec.ValidationError as error:
        raise _as_source_error(answer, source, error) from None


def _as_source_error(answer: str, source: str, error: msgspec.ValidationError) -> SourceError:
    failure = msgspec.json.decode(answer)
    if not failure.get("error"):
        return SourceError(f"This syntax is not supported ({error})")
    start = (failure.get("start") or {}).get("offset", 0)
    end = (failure.get("end") or {}).get("offset", start)
    before = source[:start]
    return SourceError(
        failure["message"],
        line=before.count("\n") + 1,
        column=start - (before.rfind("\n") + 1) + 1,
        start=start,
        end=end,
    )
