"""Groups of one batch: types get their index, properties are merged. Pure but for being mutable."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec
import orjson

from hoglet.events.persons.updates import GroupUpdate
from hoglet.kit.text import dump_storable_json

MAX_GROUP_TYPES = 5


class GroupState(msgspec.Struct, array_like=True):
    """A group as it is stored and as it travels; ``text`` is JSON of the properties."""

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
    """The group types of a project and those of its groups that a batch touches.

    Args:
        types: ``{"company": 0}``.
        states: those of the batch's groups that exist.
    """

    def __init__(self, types: Mapping[str, int], states: Iterable[GroupState]) -> None:
        self.types = dict(types)
        self.new_types: dict[str, int] = {}
        self._groups = {
            (one.index, one.key): Group(
                orjson.loads(one.text), one.created_at, one.updated_at, one.version
            )
            for one in states
        }

    def properties_of(self, index: int, key: str) -> dict[str, Any]:
        """The properties of a group; empty when nobody told any."""
        group = self._groups.get((index, key))
        return group.properties if group else {}

    def changes(self) -> list[GroupState]:
        """Groups to write, in versions one higher than those loaded."""
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
        """The index of a type; a new type gets the next one; None when all five are taken."""
        index = self.types.get(kind)
        if index is None and len(self.types) < MAX_GROUP_TYPES:
            index = self.types[kind] = self.new_types[kind] = len(self.types)
        return index

    def apply(self, effect: GroupUpdate, at: datetime) -> None:
        """Let one ``$groupidentify`` act."""
        index = self.index_of(effect.group_type)
        if index is None:
            return
        group = self._groups.get((index, effect.group_key))
        if group is None:
            group = self._groups[index, effect.group_key] = Group({}, at, at, changed=True)
        merged = {**group.properties, **effect.overwrite}
        if merged != group.properties:
            group.properties, group.changed, group.updated_at = merged, True, at
