"""Completions for Hog: globals, inputs, variables, keywords and the library."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hoglet.hog.stdlib.table import STL
from hoglet.queries.worker.suggestion import Completion, PropertyName, suggestion

_KEYWORDS = (
    *("let", "fun", "return", "if", "else", "for", "while", "in", "and", "or", "not"),
    *("true", "false", "null", "try", "catch", "finally", "throw"),
)
_LOCAL = re.compile(r"\b(?P<word>let|fun|fn|for\s*\(\s*let)\s+(?P<name>[A-Za-z_$][\w$]*)")
_MEMBERS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("event",): (
        *("uuid", "event", "distinct_id", "properties", "timestamp", "url", "elements_chain"),
    ),
    ("person",): ("id", "name", "url", "properties"),
    ("project",): ("id", "name", "url"),
    ("source",): ("name", "url"),
    ("request",): ("method", "headers", "body", "query", "ip"),
}
_BAGS: dict[tuple[str, ...], str] = {
    ("event", "properties"): "event",
    ("person", "properties"): "person",
}
_GLOBALS = ("event", "person", "groups", "inputs", "project", "source", "request")
_HOST = {
    "fetch": "fetch(url: string, options?: object) -> object",
    "postHogCapture": "postHogCapture(event: object) -> null",
    "sendEmail": "sendEmail(email: object) -> null",
    "geoipLookup": "geoipLookup(ip: string) -> object",
}


def suggest_hog(
    text: str,
    chain: tuple[str, ...],
    given: Mapping[str, Any],
    properties: Sequence[PropertyName],
) -> list[Completion]:
    """Completions after a chain of names, or at the start of an expression.

    Args:
        text: the complete program or template.
        chain: the names before a dot.
        given: values of globals known to the editor: ``{"inputs": {"url": ""}}``.
        properties: ``[kind, name, type]``.
    """
    if chain:
        return [*_given(chain, given), *_members(chain, properties)]
    return [
        *(suggestion(match["name"], "Variable", "Of this program") for match in _locals(text)),
        *(suggestion(name, "Variable", "Global") for name in dict.fromkeys((*_GLOBALS, *given))),
        *(suggestion(name, "Keyword") for name in _KEYWORDS),
        *(
            suggestion(name, "Function", visible, insert=f"{name}()")
            for name, visible in _HOST.items()
        ),
        *(
            suggestion(
                row.name,
                "Function",
                f"{row.name}{row.types}",
                insert=f"{row.name}()",
                documentation=row.doc,
            )
            for row in STL.values()
            if row.name not in _HOST
        ),
    ]


def _locals(text: str) -> Iterator[re.Match[str]]:
    return _LOCAL.finditer(text)


def _given(chain: tuple[str, ...], given: Mapping[str, Any]) -> Iterator[Completion]:
    value: Any = given
    for part in chain:
        value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield suggestion(str(name), "Property", _type_of(each))


def _members(chain: tuple[str, ...], properties: Sequence[PropertyName]) -> Iterator[Completion]:
    for name in _MEMBERS.get(chain, ()):
        yield suggestion(name, "Property")
    kind = _BAGS.get(chain)
    for owner, name, type_ in properties if kind else ():
        if owner == kind:
            yield suggestion(name, "Property", type_ or "String")


def _type_of(value: Any) -> str:
    names = {bool: "boolean", str: "string", int: "number", float: "number", list: "array"}
    return "null" if value is None else names.get(type(value), "object")
