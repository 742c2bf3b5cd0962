"""The state for processing a group: persons, group properties, known UUIDs.

It is loaded for what the events ask for. When a group is processed in pieces, each piece acts on
the state that the pieces before it left behind, although nothing is committed before the last.
"""

from uuid import UUID

from hoglet.events.groups import GroupState
from hoglet.events.persons.model import (
    DistinctIdState,
    PersonState,
    PersonStoreState,
)
from hoglet.events.repository import EventsRepository
from hoglet.pipeline.ingest.ipc import BatchResult, LookupRequest, ProcessRequest
from hoglet.store.database import Database


class LoadedState:
    """The state of one project while one of its groups is processed.

    What a piece changed wins over what is loaded later. Merges stay complete: they load all ids
    of both persons, so an id whose person differs from the database's is always known here.
    """

    def __init__(self, database: Database, events: EventsRepository, project_id: int) -> None:
        self._database = database
        self._events = events
        self._project_id = project_id
        self._persons: dict[UUID, PersonState] = {}
        self._ids: dict[str, DistinctIdState] = {}
        self._retired: dict[str, int] = {}
        self._types: dict[str, int] = {}
        self._groups: dict[tuple[int, str], GroupState] = {}
        self._seen: set[UUID] = set()
        self._is_changed = False

    async def request(self, group: UUID, wanted: LookupRequest) -> ProcessRequest:
        """What a piece acts on: the part of the state that it asks for."""
        loaded = await self._load(wanted)
        return ProcessRequest(
            group=group,
            people=self._person_state(wanted) if self._is_changed else loaded,
            group_types=self._types,
            groups=[
                self._groups[place]
                for kind, key in wanted.groups
                if kind in self._types and (place := (self._types[kind], key)) in self._groups
            ],
            seen=[uuid for uuid in wanted.uuids if uuid in self._seen] if self._seen else [],
        )

    def apply(self, acted: BatchResult) -> None:
        """Keep what a piece changed."""
        self._is_changed = True
        self._persons.update((person.id, person) for person in acted.people.persons)
        self._ids.update((one.distinct_id, one) for one in acted.people.ids)
        for person in acted.people.deleted:
            self._persons.pop(person.id, None)
        self._types.update(acted.new_group_types)
        self._groups.update(((one.index, one.key), one) for one in acted.groups)
        self._seen.update(acted.new_uuids)

    async def _load(self, wanted: LookupRequest) -> PersonStoreState:
        """Load what a piece asks for; returns the persons as they are in the database."""
        async with self._database.read() as session:
            types = await self._events.group_types(session, self._project_id)
            self._types = {**types, **self._types}
            places = [
                (self._types[kind], key) for kind, key in wanted.groups if kind in self._types
            ]
            people = await self._events.load_persons(
                session, self._project_id, wanted.distinct_ids, wanted.merging
            )
            groups = await self._events.load_groups(session, self._project_id, places)
            self._seen |= await self._events.seen(session, self._project_id, wanted.uuids)
        for person in people.persons:
            self._persons.setdefault(person.id, person)
        for one in people.ids:
            self._ids.setdefault(one.distinct_id, one)
        self._retired |= people.retired
        for one in groups:
            self._groups.setdefault((one.index, one.key), one)
        return people

    def _person_state(self, wanted: LookupRequest) -> PersonStoreState:
        """Those of the distinct ids, and all ids of persons that merges name."""
        names = {name for name in (*wanted.distinct_ids, *wanted.merging) if name in self._ids}
        merged = {self._ids[name].person_id for name in wanted.merging if name in self._ids}
        if merged:
            names.update(name for name, one in self._ids.items() if one.person_id in merged)
        ids = [self._ids[name] for name in names]
        persons = {one.person_id for one in ids}
        unknown = {*wanted.distinct_ids, *wanted.merging} - names
        retired = {name: self._retired[name] for name in unknown if name in self._retired}
        loaded = [self._persons[person] for person in persons]
        return PersonStoreState(loaded, ids, retired=retired)
