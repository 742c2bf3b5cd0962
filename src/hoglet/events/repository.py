"""Statements on persons, groups, seen UUIDs and ingestion warnings.

Built for batches: few statements with many rows, the same on SQLite and PostgreSQL.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.events.groups import GroupState
from hoglet.events.known_uuids import KnownUuids
from hoglet.events.persons.model import (
    DistinctIdState,
    PersonState,
    PersonStoreState,
)
from hoglet.events.statements import insert_into, values_of
from hoglet.events.tables import (
    DistinctIdRow,
    GroupRow,
    GroupTypeRow,
    IngestionWarningRow,
    PersonRow,
    RetiredDistinctIdRow,
)
from hoglet.store.base import Base

_NAMES_PER_STATEMENT = 500


class EventsRepository:
    """The statements.

    Args:
        known: UUIDs of stored events.
    """

    def __init__(self, known: KnownUuids | None = None) -> None:
        self._known = known or KnownUuids()

    async def load_persons(
        self,
        session: AsyncSession,
        project_id: int,
        names: Collection[str],
        merging: Collection[str],
    ) -> PersonStoreState:
        """The persons of distinct ids.

        Args:
            session: a read session.
            project_id: their project.
            names: the batch's distinct ids.
            merging: distinct ids in merges: all ids of their persons are loaded too.
        """
        rows = await _person_rows(session, project_id, {*names, *merging})
        persons = {row.id: _person_state(row) for row in rows}
        ids = {
            row.distinct_id: DistinctIdState(row.distinct_id, row.id, row.id_version)
            for row in rows
        }
        touched = {ids[name].person_id for name in merging if name in ids}
        for row in await _all_ids(session, project_id, touched):
            item = DistinctIdState(row.distinct_id, row.person_id, row.version)
            ids.setdefault(row.distinct_id, item)
        unknown = {*names, *merging} - ids.keys()
        retired = await _retired(session, project_id, unknown)
        return PersonStoreState(list(persons.values()), list(ids.values()), retired=retired)

    async def save_persons(
        self, session: AsyncSession, project_id: int, changes: PersonStoreState
    ) -> None:
        """Write the changes of a batch, from :meth:`PersonStore.changes`."""
        persons = [
            {
                "id": item.id,
                "project_id": project_id,
                "properties": item.text,
                "created_at": item.created_at,
                "is_identified": item.is_identified,
                "version": item.version,
            }
            for item in changes.persons
        ]
        await _upsert(session, PersonRow, persons, keys=("id", "project_id"))
        ids = [
            {
                "project_id": project_id,
                "distinct_id": item.distinct_id,
                "person_id": item.person_id,
                "version": item.version,
            }
            for item in changes.ids
        ]
        await _upsert(session, DistinctIdRow, ids, keys=("project_id", "distinct_id"))
        for part in _parts([person.id for person in changes.deleted]):
            missing = (PersonRow.project_id == project_id) & PersonRow.id.in_(part)
            await session.execute(delete(PersonRow).where(missing))

    async def group_types(self, session: AsyncSession, project_id: int) -> dict[str, int]:
        """Group types by name: ``{"company": 0}``."""
        wanted = select(GroupTypeRow.group_type, GroupTypeRow.group_index)
        rows = await session.execute(wanted.where(GroupTypeRow.project_id == project_id))
        return {row.group_type: row.group_index for row in rows}

    async def load_groups(
        self, session: AsyncSession, project_id: int, keys: Collection[tuple[int, str]]
    ) -> list[GroupState]:
        """The existing groups with these ``(index, key)``."""
        found: list[GroupState] = []
        place = tuple_(GroupRow.group_index, GroupRow.group_key)
        for part in _parts(list(keys)):
            wanted = select(GroupRow).where(GroupRow.project_id == project_id, place.in_(part))
            found.extend(
                GroupState(
                    row.group_index,
                    row.group_key,
                    row.properties,
                    row.created_at,
                    row.updated_at,
                    row.version,
                )
                for row in await session.scalars(wanted)
            )
        return found

    async def save_groups(
        self,
        session: AsyncSession,
        project_id: int,
        new_types: Mapping[str, int],
        changes: Iterable[GroupState],
    ) -> None:
        """Write new types and changed groups."""
        types = [
            {"project_id": project_id, "group_type": kind, "group_index": index}
            for kind, index in new_types.items()
        ]
        await _upsert(session, GroupTypeRow, types, keys=("project_id", "group_type"))
        rows = [
            {
                "project_id": project_id,
                "group_index": change.index,
                "group_key": change.key,
                "properties": change.text,
                "created_at": change.created_at,
                "updated_at": change.updated_at,
                "version": change.version,
            }
            for change in changes
        ]
        await _upsert(session, GroupRow, rows, keys=("project_id", "group_index", "group_key"))

    async def seen(
        self, session: AsyncSession, project_id: int, uuids: Sequence[UUID]
    ) -> set[UUID]:
        """The UUIDs that the project has stored recently."""
        return await self._known.find(session, project_id, uuids)

    async def add_seen(self, session: AsyncSession, project_id: int, uuids: Iterable[UUID]) -> None:
        """Record the UUIDs of stored events."""
        await self._known.add(session, project_id, uuids)

    async def add_warnings(
        self, session: AsyncSession, counts: Sequence[Any], at: datetime
    ) -> None:
        """Add counts of :class:`hoglet.events.warnings.WarningCount` to the day's."""
        for count in counts:
            row = await session.get(IngestionWarningRow, (count.project_id, count.kind, at.date()))
            if row is None:
                row = IngestionWarningRow(
                    project_id=count.project_id, kind=count.kind, day=at.date(), count=0
                )
                session.add(row)
            row.count += count.count
            row.example, row.last_at = count.example, at

    async def warnings(self, session: AsyncSession, project_id: int) -> list[IngestionWarningRow]:
        """A project's ingestion warnings, newest first."""
        wanted = select(IngestionWarningRow).where(IngestionWarningRow.project_id == project_id)
        return list(
            (await session.scalars(wanted.order_by(IngestionWarningRow.last_at.desc()))).all()
        )


async def _person_rows(session: AsyncSession, project_id: int, names: Collection[str]) -> list[Any]:
    if not names:
        return []
    given = values_of(session, DistinctIdRow.distinct_id, sorted(names))
    wanted = (
        select(
            DistinctIdRow.distinct_id,
            DistinctIdRow.version.label("id_version"),
            PersonRow.id,
            PersonRow.properties,
            PersonRow.created_at,
            PersonRow.is_identified,
            PersonRow.version,
        )
        .join(
            PersonRow,
            (PersonRow.id == DistinctIdRow.person_id)
            & (PersonRow.project_id == DistinctIdRow.project_id),
        )
        .where(DistinctIdRow.project_id == project_id, DistinctIdRow.distinct_id.in_(given))
    )
    return list((await session.execute(wanted)).all())


async def _all_ids(session: AsyncSession, project_id: int, persons: Collection[UUID]) -> list[Any]:
    if not persons:
        return []
    given = values_of(session, DistinctIdRow.person_id, list(persons))
    wanted = select(DistinctIdRow).where(
        DistinctIdRow.project_id == project_id, DistinctIdRow.person_id.in_(given)
    )
    return list((await session.scalars(wanted)).all())


async def _retired(
    session: AsyncSession, project_id: int, names: Collection[str]
) -> dict[str, int]:
    """The versions of distinct ids whose person was deleted."""
    if not names:
        return {}
    given = values_of(session, RetiredDistinctIdRow.distinct_id, sorted(names))
    wanted = select(RetiredDistinctIdRow.distinct_id, RetiredDistinctIdRow.version).where(
        RetiredDistinctIdRow.project_id == project_id,
        RetiredDistinctIdRow.distinct_id.in_(given),
    )
    return {row.distinct_id: row.version for row in await session.execute(wanted)}


def _person_state(row: Any) -> PersonState:
    return PersonState(row.id, row.properties, row.created_at, row.is_identified, row.version)


async def _upsert(
    session: AsyncSession,
    table: type[Base],
    rows: list[dict[str, Any]],
    *,
    keys: tuple[str, ...],
) -> None:
    """Insert rows; replace the other columns of existing keys."""
    if not rows:
        return
    statement = insert_into(session, table)
    changed = [name for name in rows[0] if name not in keys]
    values = {name: statement.excluded[name] for name in changed}
    upsert = statement.on_conflict_do_update(index_elements=list(keys), set_=values)
    connection = await session.connection()
    await connection.execute(upsert, rows)


def _parts[T](items: Sequence[T]) -> list[Sequence[T]]:
    step = _NAMES_PER_STATEMENT
    return [items[start : start + step] for start in range(0, len(items), step)]
