"""Persons of one batch: loaded once, changed event by event in memory, written back at the end.

Pure but for being mutable. Ids of new persons follow from the project and the distinct id, so a
batch that is worked off again after a crash makes the very same persons.

Source: spec section 14 (persons; Merge; Never merged).
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

import msgspec
import orjson

from hoglet.events.person_rules import PersonEffect

NEVER_MERGED = frozenset(
    {
        "", "anonymous", "guest", "undefined", "null", "none", "nil", "0", "nan", "true", "false",
        "[object object]", "distinct_id", "id", "email",
    }
)  # fmt: skip
_NAMESPACE = UUID("8f8f2f6e-3c1c-4d57-9f0c-5f2a7e3d1b60")


class Person(msgspec.Struct, eq=False):
    """A person in memory. ``version`` rises with every batch that changes it."""

    id: UUID
    properties: dict[str, Any]
    created_at: datetime
    is_identified: bool = False
    version: int = 0
    text: str | None = None  # the properties as JSON, while they are unchanged
    changed: bool = False

    def json(self) -> str:
        """The properties as JSON text."""
        if self.text is None:
            self.text = orjson.dumps(self.properties).decode()
        return self.text


class DistinctId(msgspec.Struct):
    """Whose a distinct id is. ``moved``: past events may carry another person's id."""

    person: Person
    version: int = 0
    changed: bool = False
    moved: bool = False


def person_id_of(project_id: int, distinct_id: str) -> UUID:
    """The id of the person that a distinct id makes, or would make."""
    return uuid5(_NAMESPACE, f"{project_id}:{distinct_id}")


class People:
    """The persons of a project that a batch may touch.

    Args:
        project_id: whose they are.
        ids: every distinct id of the batch that is known, and all ids of persons that may be
            merged away.
    """

    def __init__(self, project_id: int, ids: dict[str, DistinctId]) -> None:
        self._project_id = project_id
        self._ids = ids
        self.deleted: list[Person] = []
        self.warnings: list[tuple[str, dict[str, Any]]] = []

    def find(self, distinct_id: str) -> Person | None:
        """The person of a distinct id, if there is one."""
        known = self._ids.get(distinct_id)
        return known.person if known else None

    def id_without_profile(self, distinct_id: str) -> UUID:
        """The person id of an event that makes no person."""
        found = self.find(distinct_id)
        return found.id if found else person_id_of(self._project_id, distinct_id)

    def apply(self, distinct_id: str, at: datetime, effect: PersonEffect | None) -> Person:
        """Let one event act; returns the person as it is for that event."""
        if effect is not None and effect.merge_from:
            self._merge(distinct_id, at, effect)
        person = self.find(distinct_id) or self._create(distinct_id, at)
        if effect is not None:
            _change(person, effect)
        return person

    def changed_persons(self) -> list[Person]:
        """Persons to write, each once."""
        found = {id(known.person): known.person for known in self._ids.values()}
        return [person for person in found.values() if person.changed]

    def changed_ids(self) -> list[tuple[str, DistinctId]]:
        """Distinct ids to write."""
        return [(name, known) for name, known in self._ids.items() if known.changed]

    def _create(self, distinct_id: str, at: datetime) -> Person:
        person = Person(person_id_of(self._project_id, distinct_id), {}, at, changed=True)
        self._attach(distinct_id, person)
        return person

    def _attach(self, distinct_id: str, person: Person) -> None:
        known = self._ids.get(distinct_id)
        moved = person.id != person_id_of(self._project_id, distinct_id)
        if known is None:
            self._ids[distinct_id] = DistinctId(person, changed=True, moved=moved)
        else:
            # `moved` also when it comes home: an older override has to be replaced
            known.person, known.changed, known.moved = person, True, True

    def _merge(self, into: str, at: datetime, effect: PersonEffect) -> None:
        other = effect.merge_from
        if other == into:
            return
        if other.strip().lower() in NEVER_MERGED or into.strip().lower() in NEVER_MERGED:
            self._warn("cannot_merge_with_illegal_distinct_id", into, other)
            return
        survivor, merged = self.find(into), self.find(other)
        if merged is None:
            survivor = survivor or self._create(into, at)
            self._attach(other, survivor)
        elif survivor is None:
            survivor = merged
            self._attach(into, survivor)
        elif survivor is not merged:
            if merged.is_identified and not effect.dangerously:
                self._warn("cannot_merge_already_identified", into, other)
                return
            self._absorb(survivor, merged)
        if effect.identifies and not survivor.is_identified:
            survivor.is_identified = survivor.changed = True

    def _absorb(self, survivor: Person, merged: Person) -> None:
        survivor.properties = {**merged.properties, **survivor.properties}
        survivor.created_at = min(survivor.created_at, merged.created_at)
        survivor.text, survivor.changed = None, True
        for known in self._ids.values():
            if known.person is merged:
                known.person, known.changed, known.moved = survivor, True, True
        self.deleted.append(merged)

    def _warn(self, kind: str, into: str, other: str) -> None:
        self.warnings.append((kind, {"distinct_id": into, "other_distinct_id": other}))


def merge_sources(pairs: Iterable[tuple[str, PersonEffect | None]]) -> set[str]:
    """The distinct ids that merges of a batch name, on either side."""
    merging = ((into, effect.merge_from) for into, effect in pairs if effect and effect.merge_from)
    return {name for pair in merging for name in pair}


def _change(person: Person, effect: PersonEffect) -> None:
    before = person.properties
    after = {**effect.once, **before, **effect.overwrite}
    for key in effect.unset:
        after.pop(key, None)
    if after != before:
        person.properties, person.text, person.changed = after, None, True
