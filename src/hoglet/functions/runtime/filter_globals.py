"""The globals that filters see, derived from those of a run.

Source: docs/spec/hog-functions.md#54-globals-seen-by-filters.
"""

import re
from typing import Any

ACTIVITY_EVENT = "$activity_log_entry_created"
_LISTED_ELEMENTS = frozenset({"a", "button", "form", "input", "select", "textarea", "label"})
_QUOTED = r'"((?:\\.|[^"\\])*)"'
_TEXT = re.compile(rf'(?:^|[:"])text={_QUOTED}')
_ID = re.compile(rf'(?:^|[:"])attr_id={_QUOTED}')
_HREF = re.compile(rf'(?:^|[:"])href={_QUOTED}')
_TAG = re.compile(r"(?:^|;)([A-Za-z][\w-]*)(?=[.:;]|$)")


def filter_globals(run: dict[str, Any]) -> dict[str, Any]:
    """Globals of a filter from the globals of a run.

    Args:
        run: ``{"event": {...}, "person": {...} | None, "groups": {...}, "variables": {...}}``.

    Returns:
        The names of docs/spec/hog-functions.md#54-globals-seen-by-filters; the properties are
        shared with ``run``, not copied.
    """
    event = run.get("event") or {}
    properties = event.get("properties") or {}
    person = run.get("person") or None
    distinct_id = event.get("distinct_id")
    known_person = _person(person) if person else None
    answer: dict[str, Any] = {
        "event": event.get("event"),
        "uuid": event.get("uuid"),
        "timestamp": event.get("timestamp"),
        "distinct_id": distinct_id,
        "properties": properties,
        "person": known_person,
        "pdi": {
            "distinct_id": distinct_id,
            "person_id": person.get("id") if person else None,
            "person": known_person,
        },
        "variables": run.get("variables") or {},
    }
    answer.update(_elements(str(event.get("elements_chain") or "")))
    answer.update(_groups(run.get("groups") or {}))
    if event.get("event") == ACTIVITY_EVENT:
        answer["properties"] = _with_dotted_keys(properties)
    return answer


def _person(person: dict[str, Any]) -> dict[str, Any]:
    return {"id": person.get("id"), "properties": person.get("properties") or {}}


def _groups(groups: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    for index in range(5):
        answer[f"$group_{index}"] = None
        answer[f"group_{index}"] = {"properties": {}}
    for group in groups.values():
        if isinstance(group, dict) and group.get("index") in range(5):
            answer[f"$group_{group['index']}"] = group.get("id")
            answer[f"group_{group['index']}"] = {"properties": group.get("properties") or {}}
    return answer


def _elements(chain: str) -> dict[str, Any]:
    if not chain:
        return {
            "elements_chain": "",
            "elements_chain_href": "",
            "elements_chain_texts": [],
            "elements_chain_ids": [],
            "elements_chain_elements": [],
        }
    href = _HREF.search(chain)
    tags = dict.fromkeys(_TAG.findall(chain))
    return {
        "elements_chain": chain,
        "elements_chain_href": _unescape(href[1]) if href else "",
        "elements_chain_texts": [*dict.fromkeys(map(_unescape, _TEXT.findall(chain)))],
        "elements_chain_ids": [*dict.fromkeys(map(_unescape, _ID.findall(chain)))],
        "elements_chain_elements": [tag for tag in tags if tag in _LISTED_ELEMENTS],
    }


def _unescape(text: str) -> str:
    return text.replace('\\"', '"').replace("\\\\", "\\")


def _with_dotted_keys(properties: dict[str, Any]) -> dict[str, Any]:
    """``detail.name`` beside ``detail``: activity filters name nested fields by dotted keys."""
    answer = dict(properties)
    waiting: list[tuple[str, Any]] = list(properties.items())
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend((f"{path}.{key}", nested) for key, nested in value.items())
        answer.setdefault(path, value)
    return answer
