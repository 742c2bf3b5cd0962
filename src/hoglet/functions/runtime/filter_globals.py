"""The globals of filters, derived from those of a run.

Source: docs/spec/hog-functions.md#54-globals-seen-by-filters.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hoglet.functions.json_types import Globals
from hoglet.kit.json import Properties, is_object, object_at

ACTIVITY_EVENT = "$activity_log_entry_created"
_LISTED_ELEMENTS = frozenset({"a", "button", "form", "input", "select", "textarea", "label"})
_QUOTED = r'"((?:\\.|[^"\\])*)"'
_VALUE = re.compile(_QUOTED)
_TEXT = re.compile(rf'(?:^|[:"])text={_QUOTED}')
_ID = re.compile(rf'(?:^|[:"])attr_id={_QUOTED}')
_HREF = re.compile(rf'(?:^|[:"])href={_QUOTED}')
_TAG = re.compile(r"(?:^|;)([A-Za-z][\w-]*)(?=[.:;]|$)")


_NO_PART = 0
_ELEMENTS, _PERSON, _GROUPS = 1, 2, 4
_ALL_PARTS = _ELEMENTS | _PERSON | _GROUPS
_PART_OF_ROOT: dict[str, int] = {
    "elements_chain": _ELEMENTS,
    "elements_chain_href": _ELEMENTS,
    "elements_chain_texts": _ELEMENTS,
    "elements_chain_ids": _ELEMENTS,
    "elements_chain_elements": _ELEMENTS,
    "person": _PERSON,
    "pdi": _PERSON,
    **{f"$group_{index}": _GROUPS for index in range(5)},
    **{f"group_{index}": _GROUPS for index in range(5)},
}


def parts_read(roots: Iterable[str]) -> int:
    """The parts of :class:`FilterGlobals` with these globals, as a bit set."""
    parts = _NO_PART
    for root in roots:
        parts |= _PART_OF_ROOT.get(root, _NO_PART)
    return parts


class FilterGlobals(dict[str, Any]):
    """The globals of filters; rarely used ones are built by :meth:`provide`.

    Args:
        event: ``{"event", "uuid", "timestamp", "distinct_id", "properties", "elements_chain"}``.
        person: returns ``{"id", "properties"}`` or None.
        groups: returns ``groups`` as programs see them.
    """

    __slots__ = ("_event", "_groups", "_missing", "_person")

    def __init__(
        self,
        event: Mapping[str, Any],
        person: Callable[[], Mapping[str, Any] | None],
        groups: Callable[[], Mapping[str, Any]],
    ) -> None:
        get = event.get
        name, properties = get("event"), object_at(event, "properties")
        super().__init__(
            event=name,
            uuid=get("uuid"),
            timestamp=get("timestamp"),
            distinct_id=get("distinct_id"),
            properties=_with_dotted_keys(properties) if name == ACTIVITY_EVENT else properties,
            variables={},
        )
        self._event = event
        self._person = person
        self._groups = groups
        self._missing = _ALL_PARTS

    def provide(self, parts: int) -> None:
        """Build the given parts, a bit set from :func:`parts_read`."""
        missing = parts & self._missing
        if not missing:
            return
        self._missing &= ~parts
        if missing & _ELEMENTS:
            self.update(_elements(str(self._event.get("elements_chain") or "")))
        if missing & _PERSON:
            self._add_person(self._person())
        if missing & _GROUPS:
            self.update(_group_globals(self._groups()))

    def _add_person(self, person: Mapping[str, Any] | None) -> None:
        known = None
        if person is not None:
            known = {"id": person.get("id"), "properties": object_at(person, "properties")}
        self["person"] = known
        self["pdi"] = {
            "distinct_id": self["distinct_id"],
            "person_id": known["id"] if known else None,
            "person": known,
        }


def filter_globals(run: Globals) -> FilterGlobals:
    """All globals of a filter, from the globals of a run.

    Args:
        run: ``{"event": {...}, "person": {...} | None, "groups": {...}, "variables": {...}}``.

    Returns:
        The names of docs/spec/hog-functions.md#54-globals-seen-by-filters; the properties are
        shared with ``run``, not copied.
    """
    values = lazy_filter_globals(run)
    values.provide(_ALL_PARTS)
    return values


def lazy_filter_globals(run: Globals) -> FilterGlobals:
    """As :func:`filter_globals`, with nothing built yet."""
    values = FilterGlobals(
        run.get("event") or {},
        lambda: run.get("person") or None,
        lambda: run.get("groups") or {},
    )
    values["variables"] = run.get("variables") or {}
    return values


def _group_globals(groups: Mapping[str, Any]) -> Globals:
    answer: Globals = {}
    for index in range(5):
        answer[f"$group_{index}"] = None
        answer[f"group_{index}"] = {"properties": {}}
    for group in groups.values():
        if is_object(group) and group.get("index") in range(5):
            answer[f"$group_{group['index']}"] = group.get("id")
            answer[f"group_{group['index']}"] = {"properties": group.get("properties") or {}}
    return answer


def _elements(chain: str) -> Globals:
    if not chain:
        return {
            "elements_chain": "",
            "elements_chain_href": "",
            "elements_chain_texts": [],
            "elements_chain_ids": [],
            "elements_chain_elements": [],
        }
    href = _HREF.search(chain)
    tags = dict.fromkeys(_TAG.findall(_VALUE.sub("", chain)))
    return {
        "elements_chain": chain,
        "elements_chain_href": _unescape(href[1]) if href else "",
        "elements_chain_texts": [*dict.fromkeys(map(_unescape, _TEXT.findall(chain)))],
        "elements_chain_ids": [*dict.fromkeys(map(_unescape, _ID.findall(chain)))],
        "elements_chain_elements": [tag for tag in tags if tag in _LISTED_ELEMENTS],
    }


def _unescape(text: str) -> str:
    return text.replace('\\"', '"').replace("\\\\", "\\")


def _with_dotted_keys(properties: Properties) -> Properties:
    """Add ``detail.name`` to ``detail``: activity filters use dotted keys for nested fields."""
    answer = dict(properties)
    waiting: list[tuple[str, Any]] = list(properties.items())
    while waiting:
        path, value = waiting.pop()
        if is_object(value):
            waiting.extend((f"{path}.{key}", nested) for key, nested in value.items())
        answer.setdefault(path, value)
    return answer
