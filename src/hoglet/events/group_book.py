"""Groups of one batch: types get their index, properties are merged. Pure but for being mutable."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from hoglet.events.person_rules import GroupEffect

MAX_GROUP_TYPES = 5


class Group(msgspec.Struct):
    """A group in memory."""

    properties: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    version: int = 0
    changed: bool = False


class GroupBook:
    """The group types of a project and those of its groups that a batch touches.

    Args:
        types: ``{"company": 0}``.
        groups: ``{(0, "acme"): Group(...)}``.
    """

    def __init__(self, types: Mapping[str, int], groups: dict[tuple[int, str], Group]) -> None:
        self.types = dict(types)
        self.new_types: dict[str, int] = {}
        self.groups = groups

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

    def apply(self, effect: GroupEffect, at: datetime) -> None:
        """Let one ``$groupidentify`` act."""
        index = self.index_of(effect.group_type)
        if index is None:
            return
        group = self.groups.get((index, effect.group_key))
        if group is None:
            group = self.groups[index, effect.group_key] = Group({}, at, at, changed=True)
        merged = {**group.properties, **effect.overwrite}
        if merged != group.properties:
            group.properties, group.changed, group.updated_at = merged, True, at
