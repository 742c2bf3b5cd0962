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

from hoglet.project_files.yaml_files import BadFile

type Json = dict[str, Any]

_COHORT_TYPES = frozenset({"cohort", "static-cohort", "precalculated-cohort"})
_OPAQUE = frozenset({"inputs"})  # values of users, which may look like anything


class Names:
    """Names of a project's actions and cohorts by id, and ids by name."""

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
        """Learn of an object that was made; ``kind`` is ``action`` or ``cohort``."""
        self.by_id[kind][str(key)] = name
        self.by_name[kind][name] = key


def with_names(value: Any, names: Names) -> Any:
    """A value of the API with names for ids; an id of something unknown stays."""
    if isinstance(value, list):
        return [with_names(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    found = {
        key: item if key in _OPAQUE else with_names(item, names) for key, item in value.items()
    }
    place = _place(found)
    if place is None:
        return found
    kind, field = place
    name = names.by_id[kind].get(str(found.get(field)))
    if name is None:
        return found
    redundant = {field, "cohort_name"} | ({"name"} if found.get("name") in {name, None} else set())
    return {**{key: item for key, item in found.items() if key not in redundant}, kind: name}


def with_ids(value: Any, names: Names) -> Any:
    """A value of a file with ids for names.

    Raises:
        BadFile: it names an action or cohort that there is not.
    """
    if isinstance(value, list):
        return [with_ids(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: item if key in _OPAQUE else with_ids(item, names) for key, item in value.items()}
    place = _place(found)
    if place is None or place[0] not in found:
        return found
    kind, field = place
    name = str(found.pop(kind))
    if name not in names.by_name[kind]:
        raise BadFile(f"There is no {kind} {name}, which a file names.")
    key = names.by_name[kind][name]
    found[field] = str(key) if found.get("type") == "actions" else key
    return found


def references(value: Any) -> Iterator[tuple[str, str]]:
    """The objects that a value of a file names, e.g. ``("cohort", "Pros")``."""
    if isinstance(value, list):
        for item in value:
            yield from references(item)
    elif isinstance(value, dict):
        place = _place(value)
        if place is not None and place[0] in value:
            yield place[0], str(value[place[0]])
        for key, item in value.items():
            if key not in _OPAQUE:
                yield from references(item)


def _place(value: Json) -> tuple[str, str] | None:
    """The kind of object that a mapping refers to, and the field that holds its id."""
    if value.get("type") == "actions" or value.get("kind") == "ActionsNode":
        return "action", "id"
    if value.get("event_type") == "actions":
        return "action", "key"
    if value.get("type") in _COHORT_TYPES:
        return "cohort", "value"
    return None
