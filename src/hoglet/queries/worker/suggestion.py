"""Completion items."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypedDict

from hoglet.hogql.context import QueryContext

type Kind = Literal["Class", "Constant", "Function", "Keyword", "Property", "Variable"]

MOST = 1_000


class Completion(TypedDict):
    """A completion item of an editor."""

    label: str
    insertText: str
    kind: Kind
    detail: str | None
    documentation: str | None


class Completions(TypedDict):
    """The response of an autocomplete query; incomplete if there are more than ``MOST``."""

    suggestions: list[Completion]
    incomplete_list: bool
    timings: list[str]


type PropertyName = tuple[str, str, str | None]
"""Kind, name and type of a property: ``("event", "price", "Numeric")``."""


class Known(NamedTuple):
    """Names of a project: properties, and code names of variables."""

    context: QueryContext
    properties: Sequence[PropertyName]
    variables: Sequence[str]


def suggestion(
    label: str,
    kind: Kind,
    detail: str | None = None,
    *,
    insert: str | None = None,
    documentation: str | None = None,
) -> Completion:
    """An item; it inserts its label unless ``insert`` says otherwise."""
    return {
        "label": label,
        "insertText": label if insert is None else insert,
        "kind": kind,
        "detail": detail,
        "documentation": documentation,
    }


def answer(candidates: Iterable[Completion], word: str) -> Completions:
    """The response of an autocomplete query: prefix matches first, then substring matches."""
    prefix = word.lower()
    fitting = {(each["label"], each["kind"]): each for each in candidates if _fits(each, prefix)}
    ordered = sorted(
        fitting.values(), key=lambda each: not each["label"].lower().startswith(prefix)
    )
    return {
        "suggestions": ordered[:MOST],
        "incomplete_list": len(ordered) > MOST,
        "timings": [],
    }


def _fits(each: Completion, part: str) -> bool:
    return part in each["label"].lower()
