"""References between objects: ids in the API, names in files.

| where | API | file |
|---|---|---|
| filters of functions | ``{"type": "actions", "id": "3"}`` | ``{type: actions, action: Docs}`` |
| queries of insights | ``{"kind": "ActionsNode", "id": 3}`` | ``{kind: …, action: Docs}`` |
| criteria of cohorts | ``{"event_type": "actions", "key": 3}`` | ``{…, action: Docs}`` |
| property filters | ``{"type": "cohort", "value": 12}`` | ``{type: cohort, cohort: Pros}`` |
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hoglet.kit.property_types import COHORT_TYPES
from hoglet.project_files.documents import Document
from hoglet.project_files.formats.yaml_files import BadFile

_OPAQUE = frozenset({"inputs"})  # arbitrary user values, never references


class Names:
    """Maps ids of a project's actions and cohorts to names, and back."""

    def __init__(self, actions: Mapping[Any, str], cohorts: Mapping[Any, str]) -> None:
        self.by_id = {
            "action": {str(key): name for key, name in actions.items()},
            "cohort": {str(key): name for key, name in cohorts.items()},
        }
        self.by_name: dict[str, dict[str, Any]] = {
            "action": {name: key for key, name in actions.items()},
            "cohort": {name: key for key, name in cohorts.items()},
        }

    def add(self, kind: str, key: Any, name: str) -> None:
        """Add a created object; ``kind`` is ``action`` or ``cohort``."""
        self.by_id[kind][str(key)] = name
        self.by_name[kind][name] = key


def with_names(value: Any, names: Names) -> Any:
    """Replace ids by names in a value of the API; unknown ids stay."""
    if isinstance(value, list):
        return [with_names(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    named = {
        key: item if key in _OPAQUE else with_names(item, names) for key, item in value.items()
    }
    reference = _reference(named)
    if reference is None:
        return named
    kind, field = reference
    name = names.by_id[kind].get(str(named.get(field)))
    if name is None:
        return named
    redundant = {field, "cohort_name"} | ({"name"} if named.get("name") in {name, None} else set())
    return {**{key: item for key, item in named.items() if key not in redundant}, kind: name}


def with_ids(value: Any, names: Names) -> Any:
    """Replace names by ids in a value of a file.

    Raises:
        BadFile: an action or cohort does not exist.
    """
    if isinstance(value, list):
        return [with_ids(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    resolved = {
        key: item if key in _OPAQUE else with_ids(item, names) for key, item in value.items()
    }
    reference = _reference(resolved)
    if reference is None or reference[0] not in resolved:
        return resolved
    kind, field = reference
    name = str(resolved.pop(kind))
    if name not in names.by_name[kind]:
        raise BadFile(f"A file refers to the {kind} {name}, which does not exist.")
    key = names.by_name[kind][name]
    resolved[field] = str(key) if resolved.get("type") == "actions" else key
    return resolved


def references(value: Any) -> Iterator[tuple[str, str]]:
    """The objects that a value of a file refers to, e.g. ``("cohort", "Pros")``."""
    if isinstance(value, list):
        for item in value:
            yield from references(item)
    elif isinstance(value, dict):
        reference = _reference(value)
        if reference is not None and reference[0] in value:
            yield reference[0], str(value[reference[0]])
        for key, item in value.items():
            if key not in _OPAQUE:
                yield from references(item)


def unresolved(value: Any) -> Iterator[tuple[str, Any]]:
    """Actions and cohorts that a document still has by id, e.g. ``("cohort", 12)``."""
    if isinstance(value, list):
        for item in value:
            yield from unresolved(item)
    elif isinstance(value, dict):
        reference = _reference(value)
        if (
            reference is not None
            and reference[0] not in value
            and value.get(reference[1]) is not None
        ):
            yield reference[0], value[reference[1]]
        for key, item in value.items():
            if key not in _OPAQUE:
                yield from unresolved(item)


def _reference(value: Document) -> tuple[str, str] | None:
    """The kind of object that a mapping refers to, and the field with its id."""
    if value.get("type") == "actions" or value.get("kind") == "ActionsNode":
        return "action", "id"
    if value.get("event_type") == "actions":
        return "action", "key"
    if value.get("type") in COHORT_TYPES:
        return "cohort", "value"
    return None
