"""Completions at a position of an unfinished text.

Incomplete text cannot be parsed, so completions depend on the words before the position.

Source: docs/spec/data-and-queries.md#18-for-editors.
"""

import re
from typing import Any

import msgspec

from hoglet.hogql.frontend.unsupported import without_constants
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.queries.worker.cursor_scope import names_at
from hoglet.queries.worker.messages import CompleteRequest
from hoglet.queries.worker.suggest_hog import suggest_hog
from hoglet.queries.worker.suggest_hogql import suggest_hogql, suggest_properties
from hoglet.queries.worker.suggestion import Completion, Completions, Known, answer

_WORD = re.compile(r"[\w$]*\Z")
_CHAIN = re.compile(r"(?:(?:[\w$]+|`[^`]*`)(?:\[\d+\])?\s*\.\s*)+\Z")
_PART = re.compile(r"[\w$]+|`[^`]*`")
_BRACKET = re.compile(r"(?P<chain>(?:[\w$]+\s*\.\s*)*properties)\s*\[\s*'[^']*\Z")
_LOOK_BACK = 2_000


def complete(payload: Any) -> Completions:
    """Completions at a position of a text; ``payload`` is a ``CompleteRequest``."""
    request = msgspec.convert(payload, CompleteRequest)
    node = request.query
    known = Known(request.context.query_context(), request.properties, request.variables)
    text = node["query"]
    before = text[: node["endPosition"]]
    word = before[_WORD.search(before).start() :]  # pyright: ignore[reportOptionalMemberAccess]
    language = node["language"]
    if language in {"hogQL", "hogQLExpr"}:
        return answer(_in_hogql(node, before, word, known), word)
    code = before if language == "hog" else _open_braces(before)
    if code is None or _in_text(code):
        return answer([], word)
    given = node.get("globals") or {}
    chain = _chain(code[: len(code) - len(word)])
    return answer(suggest_hog(text, chain, given, known.properties), word)


def _in_hogql(node: QueryNode, before: str, word: str, known: Known) -> list[Completion]:
    text, source = node["query"], ""
    if node["language"] == "hogQLExpr":
        sent = (node.get("sourceQuery") or {}).get("query")
        source = sent if isinstance(sent, str) else "SELECT 1 FROM events"
    written = names_at(
        without_constants(source or text), 0 if source else node["endPosition"], known.context
    )
    if _in_text(before):
        bracket = _BRACKET.search(before[-_LOOK_BACK:])
        if bracket is None:
            return []
        chain = tuple(_PART.findall(bracket["chain"]))
        return suggest_properties(chain, written, known)
    behind = without_constants(before)[: len(before) - len(word)]
    return suggest_hogql(_chain(behind), behind[-_LOOK_BACK:], written, known)


def _chain(before: str) -> tuple[str, ...]:
    """The names before a dot at the end: ``("person", "properties")``."""
    match = _CHAIN.search(before[-_LOOK_BACK:])
    return tuple(part.strip("`") for part in _PART.findall(match[0])) if match else ()


_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|--[^\n]*\n|/\*.*?\*/|(?P<open>'|--|/\*)", re.DOTALL)
"""Strings and comments; ``open`` for unterminated ones."""


def _in_text(before: str) -> bool:
    """Whether the end is inside a string or a comment."""
    return any(token["open"] for token in _TOKEN.finditer(before))


def _open_braces(before: str) -> str | None:
    """The program in an open brace of a template; None outside."""
    depth, start = 0, 0
    for index in range(len(before)):
        char = before[index]
        if char == "{" and before[index - 1 : index] != "\\":
            depth, start = depth + 1, index + 1 if depth == 0 else start
        elif char == "}" and depth:
            depth -= 1
    return before[start:] if depth else None
