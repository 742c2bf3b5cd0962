"""Splits distinct ids off a person.

Source: docs/spec/data-and-queries.md#41-persons.
"""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.access.activity import Activity, ActivityLog
from hoglet.access.principals import ProjectScope
from hoglet.events.persons.model import (
    DistinctIdState,
    PersonState,
    PersonStoreState,
    person_id_of,
)
from hoglet.events.persons.repository import PersonRecord, load_persons
from hoglet.events.repository import EventsRepository
from hoglet.events.tables import DistinctIdRow, PersonRow
from hoglet.kit.clock import Clock
from hoglet.kit.errors import Invalid, NotFound
from hoglet.pipeline.ingest.replication import WarehouseReplicator, person_rows
from hoglet.store.database import Database


class PersonSplits:
    """Splits distinct ids off a person, each into its own new person."""

    def __init__(
        self,
        database: Database,
        repository: EventsRepository,
        copies: WarehouseReplicator,
        activity: ActivityLog,
        clock: Clock,
    ) -> None:
        self._database = database
        self._repository = repository
        self._copies = copies
        self._activity = activity
        self._clock = clock

    async def split(
        self, scope: ProjectScope, person: PersonRecord, distinct_ids: Sequence[str]
    ) -> None:
        """Give each of these distinct ids a new person without properties.

        Raises:
            NotFound: the person was deleted or merged meanwhile.
            Invalid: one of them does not belong to the person, or none would stay with it.
        """
        project_id = scope.project.id
        async with self._database.write() as session:
            if not await load_persons(session, project_id, [person.id], lock=True):
                raise NotFound
            versions = await _versions(session, project_id, person.id)
            if not versions.keys() - set(distinct_ids):
                raise none_stays("distinct_ids_to_split")
            changes = PersonStoreState()
            for distinct_id in dict.fromkeys(distinct_ids):
                if distinct_id not in versions:
                    raise Invalid(
                        f'"{distinct_id}" is not a distinct id of this person.',
                        attr="distinct_ids_to_split",
                    )
                version = versions[distinct_id] + 1
                created = await self._new_person(
                    session, project_id, person.id, distinct_id, version
                )
                changes.persons.append(created)
                changes.ids.append(DistinctIdState(distinct_id, created.id, version, moved=True))
            await self._repository.save_persons(session, project_id, changes)
            await self._copies.add(session, person_rows(project_id, changes))
            await self._activity.record(
                session,
                Activity(
                    project_id=project_id,
                    user_id=scope.user_id,
                    activity="split_person",
                    scope="Person",
                    item_id=str(person.id),
                    name=None,
                ),
            )

    async def _new_person(
        self, session: AsyncSession, project_id: int, old: UUID, distinct_id: str, version: int
    ) -> PersonState:
        new = person_id_of(project_id, distinct_id)
        if new == old or await session.get(PersonRow, (new, project_id)) is not None:
            new = person_id_of(project_id, distinct_id, version)
        now = self._clock.now()
        # The warehouse may have a lower version of a person with this id that was merged away.
        first_version = int(now.timestamp() * 1000)
        return PersonState(new, "{}", now, False, first_version)


def none_stays(attr: str) -> Invalid:
    """The refusal to split off all distinct ids of a person."""
    return Invalid("At least one distinct id must stay with the person.", attr=attr)


async def _versions(session: AsyncSession, project_id: int, person_id: UUID) -> dict[str, int]:
    statement = select(DistinctIdRow.distinct_id, DistinctIdRow.version).where(
        DistinctIdRow.project_id == project_id, DistinctIdRow.person_id == person_id
    )
    return {row.distinct_id: row.version for row in await session.execute(statement)}
