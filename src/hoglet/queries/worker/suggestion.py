"""Completion items."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from hoglet.hogql.context import QueryContext

type Json = dict[str, Any]
type Kind = Literal["Class", "Constant", "Function", "Keyword", "Property", "Variable"]

MOST = 1_000


class Known(NamedTuple):
    """Names of a project: properties as ``[kind, name, type]``, and code names of variables."""

    context: QueryContext
    properties: Sequence[Sequence[Any]]
    variables: Sequence[str]


def suggestion(
    label: str,
    kind: Kind,
    detail: str | None = None,
    *,
    insert: str | None = None,
    documentation: str | None = None,
) -> Json:
    """``{label, insertText, kind, detail, documentation}``."""
    return {
        "label": label,
        "insertText": label if insert is None else insert,
        "kind": kind,
        "detail": detail,
        "documentation": documentation,
    }


def answer(found: Iterable[Json], word: str) -> Json:
    """The response of an autocomplete query: prefix matches first, then substring matches."""
    wanted = word.lower()
    fitting = {(each["label"], each["kind"]): each for each in found if _fits(each, wanted)}
    ordered = sorted(
        fitting.values(), key=lambda each: not each["label"].lower().startswith(wanted)
    )
    return {
        "suggestions": ordered[:MOST],
        "incomplete_list": len(ordered) > MOST,
        "timings": [],
    }


def _fits(each: Json, wanted: str) -> bool:
    return wanted in each["label"].lower()
