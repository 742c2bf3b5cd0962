"""Schemas of editor queries; unknown keys are errors.

Source: docs/spec/data-and-queries.md#18-for-editors.
"""

from typing import Any

from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.errors import Unreadable
from hoglet.kit.suggestions import near
from hoglet.queries.kinds import check_annotations

SCHEMA, METADATA, AUTOCOMPLETE = "DatabaseSchemaQuery", "HogQLMetadata", "HogQLAutocomplete"
LANGUAGES = ("hogQL", "hogQLExpr", "hogTemplate", "hog", "hogJson")
MAX_TEXT_CHARACTERS = 100_000

_COMMON: dict[str, tuple[type, ...]] = {
    "kind": (str,),
    "modifiers": (dict,),
    "response": (dict,),
    "tags": (dict,),
    "version": (int, float),
}
_TEXT: dict[str, tuple[type, ...]] = _COMMON | {
    "language": (str,),
    "query": (str,),
    "sourceQuery": (dict,),
    "filters": (dict,),
    "globals": (dict,),
}
_KEYS: dict[str, dict[str, tuple[type, ...]]] = {
    SCHEMA: _COMMON,
    METADATA: _TEXT | {"variables": (dict,), "debug": (bool,)},
    AUTOCOMPLETE: _TEXT | {"startPosition": (int,), "endPosition": (int,)},
}
_VARIABLE: dict[str, tuple[type, ...]] = {
    "variableId": (str,),
    "code_name": (str,),
    "isNull": (bool,),
}
_WORDS = {str: "text", dict: "an object", int: "a whole number", bool: "true or false"}


def check_editor_query(node: QueryNode, path: str) -> QueryNode:
    """Validate an editor query; ``language`` defaults to ``hogQL``.

    Raises:
        Unreadable: an unknown or mistyped key; attr is its path.
    """
    keys = _KEYS[node["kind"]]
    for key, value in node.items():
        if key not in keys:
            detail = f'"{key}" is not a key of {node["kind"]}.{near(key, keys)}'
            raise Unreadable(detail, attr=f"{path}__{key}")
        _check_type(value, keys[key], f"{path}__{key}")
    sent = {key: value for key, value in node.items() if value is not None}
    check_annotations(sent, path)
    if node["kind"] == SCHEMA:
        return sent
    sent.setdefault("language", LANGUAGES[0])
    _check_text(sent, path)
    sent["variables"] = {key: each or {} for key, each in (sent.get("variables") or {}).items()}
    _check_variables(sent["variables"], f"{path}__variables")
    if node["kind"] == AUTOCOMPLETE:
        _check_positions(sent, path)
    return sent


def _check_type(value: Any, kinds: tuple[type, ...], attr: str) -> None:
    if value is None:
        return
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise Unreadable(f"This must be {_WORDS[kinds[0]]}.", attr=attr)


def _check_text(sent: QueryNode, path: str) -> None:
    if "query" not in sent:
        raise Unreadable("This field is required.", attr=f"{path}__query")
    if len(sent["query"]) > MAX_TEXT_CHARACTERS:
        raise Unreadable(
            f"At most {MAX_TEXT_CHARACTERS} characters are supported.", attr=f"{path}__query"
        )
    if sent["language"] not in LANGUAGES:
        detail = f'"{sent["language"]}" is not a language. Use one of: {", ".join(LANGUAGES)}.'
        raise Unreadable(detail, attr=f"{path}__language")


def _check_variables(variables: QueryNode, attr: str) -> None:
    for key, entry in variables.items():
        _check_type(entry, (dict,), f"{attr}__{key}")
        for name, kinds in _VARIABLE.items():
            _check_type(entry.get(name), kinds, f"{attr}__{key}__{name}")


def _check_positions(sent: QueryNode, path: str) -> None:
    length = len(sent["query"])
    end = sent.setdefault("endPosition", length)
    sent.setdefault("startPosition", end)
    for key in ("startPosition", "endPosition"):
        if not 0 <= sent[key] <= length:
            detail = f"This must be a position in the text: 0 to {length}."
            raise Unreadable(detail, attr=f"{path}__{key}")
