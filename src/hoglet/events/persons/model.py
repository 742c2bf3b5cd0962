"""Persons of a batch: loaded once, updated event by event in memory, written back at the end.

No I/O. Ids of new persons are derived from project and distinct id, so processing a batch again
after a crash creates the same persons.

Source: docs/spec/hog-functions.md#14-capture (persons; Merge; Never merged).
"""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

import msgspec
import orjson

from hoglet.events.parse import MAX_DISTINCT_ID_LENGTH
from hoglet.events.persons.updates import PersonUpdate
from hoglet.kit.json import dump_storable_json, overwrites

NEVER_MERGED = frozenset(
    {
        "", "anonymous", "guest", "undefined", "null", "none", "nil", "0", "nan", "true", "false",
        "[object object]", "distinct_id", "id", "email",
    }
)  # fmt: skip
_NAMESPACE = UUID("8f8f2f6e-3c1c-4d57-9f0c-5f2a7e3d1b60")


class PersonState(msgspec.Struct, array_like=True, gc=False):
    """A stored person; ``text`` is the JSON of its properties."""

    id: UUID
    text: str
    created_at: datetime
    is_identified: bool
    version: int


class DistinctIdState(msgspec.Struct, array_like=True, gc=False):
    """The stored owner of a distinct id; ``moved``: past events may refer to another person."""

    distinct_id: str
    person_id: UUID
    version: int
    moved: bool = False


class PersonStoreState(msgspec.Struct, array_like=True):
    """Persons and distinct ids: loaded for a batch, or changed by it.

    ``retired``: versions of distinct ids of deleted persons. ``merges``: in order, pairs of the id
    of a person that was merged away and the id of the person it became part of.
    """

    persons: list[PersonState] = []
    ids: list[DistinctIdState] = []
    deleted: list[PersonState] = []
    retired: dict[str, int] = {}
    merges: list[tuple[UUID, UUID]] = []


class Person(msgspec.Struct, eq=False):
    """A person in memory; its JSON is parsed and serialized on demand."""

    id: UUID
    created_at: datetime
    text: str | None = "{}"
    parsed: dict[str, Any] | None = None
    is_identified: bool = False
    version: int = 0
    changed: bool = False

    @property
    def properties(self) -> dict[str, Any]:
        """The properties; do not modify in place."""
        if self.parsed is None:
            self.parsed = orjson.loads(self.text or "{}")
        return self.parsed or {}

    def replace(self, properties: dict[str, Any]) -> None:
        """Replace the properties."""
        self.parsed, self.text, self.changed = properties, None, True

    def json(self) -> str:
        """The properties as JSON text."""
        if self.text is None:
            self.text = dump_storable_json(self.properties)
        return self.text

    def state(self) -> PersonState:
        """The person to store, with its version incremented."""
        return PersonState(
            self.id, self.json(), self.created_at, self.is_identified, self.version + 1
        )


class DistinctId(msgspec.Struct):
    """The owner of a distinct id, in memory."""

    person: Person
    version: int = 0
    changed: bool = False
    moved: bool = False


def is_never_merged(distinct_id: str) -> bool:
    """Whether an id cannot identify a person: a placeholder of a broken client, or too long."""
    return len(distinct_id) > MAX_DISTINCT_ID_LENGTH or distinct_id.strip().lower() in NEVER_MERGED


def person_id_of(project_id: int, distinct_id: str, after: int | None = None) -> UUID:
    """The deterministic id of the person that a distinct id creates.

    ``after`` is the version of the distinct id when its earlier person was deleted or split off:
    its next person gets a different id.
    """
    suffix = "" if after is None else f":{after}"
    return uuid5(_NAMESPACE, f"{project_id}:{distinct_id}{suffix}")


class PersonStore:
    """The persons of a project that a batch may touch.

    Args:
        project_id: their project.
        state: all known distinct ids of the batch, and all distinct ids of persons that may be
            merged.
    """

    def __init__(self, project_id: int, state: PersonStoreState) -> None:
        self._project_id = project_id
        persons = {
            person.id: Person(
                person.id,
                person.created_at,
                person.text,
                None,
                person.is_identified,
                person.version,
            )
            for person in state.persons
        }
        self._ids = {
            item.distinct_id: DistinctId(persons[item.person_id], item.version)
            for item in state.ids
        }
        self._retired = state.retired
        self._made_ids: dict[tuple[str, int | None], UUID] = {}
        self._deleted: list[Person] = []
        self._merges: list[tuple[UUID, UUID]] = []
        self.warnings: list[tuple[str, dict[str, Any]]] = []

    def find(self, distinct_id: str) -> Person | None:
        """The person of a distinct id, or None."""
        known = self._ids.get(distinct_id)
        return known.person if known else None

    def id_without_profile(self, distinct_id: str) -> UUID:
        """The person id of an event without person processing."""
        person = self.find(distinct_id)
        return person.id if person else self._new_id(distinct_id)

    def _new_id(self, distinct_id: str) -> UUID:
        return self._made_id(distinct_id, self._retired.get(distinct_id))

    def _made_id(self, distinct_id: str, after: int | None) -> UUID:
        """Like :func:`person_id_of`, cached for the batch: most events are of a few persons."""
        key = (distinct_id, after)
        created = self._made_ids.get(key)
        if created is None:
            created = self._made_ids[key] = person_id_of(self._project_id, distinct_id, after)
        return created

    def apply(self, distinct_id: str, at: datetime, effect: PersonUpdate | None) -> Person:
        """Apply an event; returns the person as of that event."""
        if effect is not None and effect.merge_from:
            self._merge(distinct_id, at, effect)
        person = self.find(distinct_id) or self._create(distinct_id, at)
        if effect is not None:
            _change(person, effect)
        return person

    def changes(self) -> PersonStoreState:
        """Rows to write, with each version incremented."""
        persons = {id(known.person): known.person for known in self._ids.values()}
        return PersonStoreState(
            persons=[person.state() for person in persons.values() if person.changed],
            ids=[
                DistinctIdState(name, known.person.id, known.version + 1, known.moved)
                for name, known in self._ids.items()
                if known.changed
            ],
            deleted=[person.state() for person in self._deleted],
            merges=self._merges,
        )

    def _create(self, distinct_id: str, at: datetime) -> Person:
        person = Person(self._new_id(distinct_id), at, changed=True)
        self._attach(distinct_id, person)
        return person

    def _attach(self, distinct_id: str, person: Person) -> None:
        known = self._ids.get(distinct_id)
        moved = person.id != self._made_id(distinct_id, None)
        if known is None:
            version = self._retired.get(distinct_id, 0)
            self._ids[distinct_id] = DistinctId(person, version, changed=True, moved=moved)
        else:
            # `moved` even if it is back at its first person: replaces an older override
            known.person, known.changed, known.moved = person, True, True

    def _merge(self, into: str, at: datetime, effect: PersonUpdate) -> None:
        other = effect.merge_from
        if other == into:
            return
        if is_never_merged(other) or is_never_merged(into):
            self._warn("cannot_merge_with_illegal_distinct_id", into, other)
            return
        survivor, merged = self.find(into), self.find(other)
        if merged is None:
            survivor = survivor or self._create(into, at)
            self._attach(other, survivor)
        elif survivor is not merged and merged.is_identified and not effect.dangerously:
            self._warn("cannot_merge_already_identified", into, other)
            return
        elif survivor is None:
            survivor = merged
            self._attach(into, survivor)
        elif survivor is not merged:
            self._absorb(survivor, merged)
        if effect.identifies and not survivor.is_identified:
            survivor.is_identified = survivor.changed = True

    def _absorb(self, survivor: Person, merged: Person) -> None:
        survivor.replace({**merged.properties, **survivor.properties})
        survivor.created_at = min(survivor.created_at, merged.created_at)
        survivor.is_identified = survivor.is_identified or merged.is_identified
        for known in self._ids.values():
            if known.person is merged:
                known.person, known.changed, known.moved = survivor, True, True
        self._deleted.append(merged)
        self._merges.append((merged.id, survivor.id))

    def _warn(self, kind: str, into: str, other: str) -> None:
        self.warnings.append((kind, {"distinct_id": into, "other_distinct_id": other}))


def _change(person: Person, effect: PersonUpdate) -> None:
    before = person.properties
    after = {**effect.once, **before, **effect.overwrite}
    for key in effect.unset:
        after.pop(key, None)
    if after != before or overwrites(before, effect.overwrite):
        person.replace(after)
