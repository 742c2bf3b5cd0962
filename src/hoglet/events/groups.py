"""Groups of a batch: assigns type indexes and merges properties. No I/O."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec
import orjson

from hoglet.events.persons.updates import GroupUpdate
from hoglet.kit.json import dump_storable_json, overwrites

MAX_GROUP_TYPES = 5


class GroupState(msgspec.Struct, array_like=True):
    """A stored group; ``text`` is the JSON of its properties."""

    index: int
    key: str
    text: str
    created_at: datetime
    updated_at: datetime
    version: int


class Group(msgspec.Struct):
    """A group in memory."""

    properties: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    version: int = 0
    changed: bool = False


class GroupStore:
    """The group types of a project and the groups of a batch.

    Args:
        types: ``{"company": 0}``.
        states: the batch's groups that exist already.
    """

    def __init__(self, types: Mapping[str, int], states: Iterable[GroupState]) -> None:
        self.types = dict(types)
        self.new_types: dict[str, int] = {}
        self._groups = {
            (state.index, state.key): Group(
                orjson.loads(state.text), state.created_at, state.updated_at, state.version
            )
            for state in states
        }

    def properties_of(self, index: int, key: str) -> dict[str, Any]:
        """The properties of a group; empty if it has none."""
        group = self._groups.get((index, key))
        return group.properties if group else {}

    def changes(self) -> list[GroupState]:
        """Groups to write, with each version incremented."""
        return [
            GroupState(
                index,
                key,
                dump_storable_json(group.properties),
                group.created_at,
                group.updated_at,
                group.version + 1,
            )
            for (index, key), group in self._groups.items()
            if group.changed
        ]

    def keys_of(self, groups: Mapping[str, str]) -> list[str]:
        """``{"company": "acme"}`` → the five group columns, ``["acme", "", "", "", ""]``."""
        keys = [""] * MAX_GROUP_TYPES
        for kind, key in groups.items():
            index = self.index_of(kind)
            if index is not None:
                keys[index] = key
        return keys

    def index_of(self, kind: str) -> int | None:
        """The index of a type; a new type gets the next one; None if all five are in use."""
        index = self.types.get(kind)
        if index is None and len(self.types) < MAX_GROUP_TYPES:
            index = self.types[kind] = self.new_types[kind] = len(self.types)
        return index

    def apply(self, effect: GroupUpdate, at: datetime) -> None:
        """Apply a ``$groupidentify`` event."""
        index = self.index_of(effect.group_type)
        if index is None:
            return
        group = self._groups.get((index, effect.group_key))
        if group is None:
            group = self._groups[index, effect.group_key] = Group({}, at, at, changed=True)
        if overwrites(group.properties, effect.overwrite):
            merged = {**group.properties, **effect.overwrite}
            group.properties, group.changed, group.updated_at = merged, True, at
