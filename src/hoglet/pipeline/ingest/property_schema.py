"""What the server remembers of properties and events, and when queries may rely on it.

A property all whose values were text is read by queries straight from its typed column, which has
nothing but text. The first value of another form must therefore not be queryable before queries
know of it: it is written down first, and the rows wait until every reader has looked again.
That happens once in the life of a property, and a project can make it happen only so often: one
whose properties keep changing form would hold up everybody's events, so it loses the fast read.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.events.repository import EventsRepository, PropertyDefinition
from hoglet.kit.clock import Clock
from hoglet.pipeline.ingest.ipc import BatchResult
from hoglet.pipeline.ingest.property_types import PropertySample, form_of
from hoglet.store.database import Database

log = structlog.get_logger()

_MOST_REMEMBERED = 200_000
MOST_WAITS = 20  # of a project in the life of a process; a minute in all


class SchemaTracker:
    """Keeps the definitions of properties and events.

    Args:
        readers_notice_after: how old the definitions that a query relies on may be.
    """

    def __init__(
        self,
        *,
        database: Database,
        events: EventsRepository,
        clock: Clock,
        readers_notice_after: timedelta,
    ) -> None:
        self._database = database
        self._events = events
        self._clock = clock
        self._readers_notice_after = readers_notice_after
        self._properties: dict[tuple[int, str, str], PropertyDefinition] = {}
        self._names: set[tuple[int, str]] = set()
        self._waits: Counter[int] = Counter()

    async def settle(self, project_id: int, acted: BatchResult) -> None:
        """Before the rows of a group are queryable: tell which properties are uniform no more."""
        await self._load(project_id, acted.properties)
        broken = [one for one in acted.properties if self._breaks(project_id, one)]
        if not broken:
            return
        self._waits[project_id] += 1
        async with self._database.write() as session:
            if self._is_unstable(project_id):
                names = await self._events.uniform_properties(session, project_id)
            else:
                names = [(one.scope, one.name) for one in broken]
            await self._events.mark_mixed(session, project_id, names)
        log.info("properties have values of several forms now", properties=len(names))
        for scope, name in names:
            self._forget_uniformity((project_id, scope, name))
        await asyncio.sleep(self._readers_notice_after.total_seconds())

    async def learn(self, session: AsyncSession, project_id: int, acted: BatchResult) -> None:
        """In the transaction that ends the group: write down what is new."""
        properties = {
            (one.scope, one.name): definition
            for one in acted.properties
            if (definition := self._changed(project_id, one)) is not None
        }
        events = [name for name in acted.events if (project_id, name) not in self._names]
        if properties or events:
            await self._events.add_definitions(
                session, project_id, properties, events, self._clock.now()
            )

    def remember(self, project_id: int, acted: BatchResult) -> None:
        """After that transaction: need not be written again."""
        if len(self._properties) + len(self._names) > _MOST_REMEMBERED:
            self.forget()
        for one in acted.properties:
            changed = self._changed(project_id, one)
            if changed is not None:
                self._properties[project_id, one.scope, one.name] = changed
        self._names.update((project_id, name) for name in acted.events)

    def forget(self) -> None:
        """Look everything up again."""
        self._properties.clear()
        self._names.clear()

    async def _load(self, project_id: int, properties: Sequence[PropertySample]) -> None:
        """Learn what an earlier process, or another one, has written down."""
        wanted = [
            (one.scope, one.name)
            for one in properties
            if (project_id, one.scope, one.name) not in self._properties
        ]
        if wanted:
            async with self._database.read() as session:
                found = await self._events.definitions(session, project_id, wanted)
            for (scope, name), definition in found.items():
                self._properties[project_id, scope, name] = definition

    def _is_unstable(self, project_id: int) -> bool:
        return self._waits[project_id] >= MOST_WAITS

    def _forget_uniformity(self, place: tuple[int, str, str]) -> None:
        known = self._properties.get(place)
        if known is not None:
            self._properties[place] = PropertyDefinition(known.property_type, is_uniform=False)

    def _breaks(self, project_id: int, seen: PropertySample) -> bool:
        known = self._properties.get((project_id, seen.scope, seen.name))
        return known is not None and known.is_uniform and form_of(known.property_type) != seen.form

    def _changed(self, project_id: int, seen: PropertySample) -> PropertyDefinition | None:
        """The definition to write, or None when there is nothing new."""
        known = self._properties.get((project_id, seen.scope, seen.name))
        if known is None:
            is_uniform = form_of(seen.property_type) == seen.form != "other"
            return PropertyDefinition(
                seen.property_type, is_uniform=is_uniform and not self._is_unstable(project_id)
            )
        if not known.property_type and seen.property_type:
            return PropertyDefinition(seen.property_type, is_uniform=False)
        return None
