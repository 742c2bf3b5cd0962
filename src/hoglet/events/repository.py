"""Statements on persons, groups, seen UUIDs and ingestion warnings.

Built for batches: few statements with many rows, the same on SQLite and PostgreSQL.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import batched
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import delete, func, select, tuple_, type_coerce
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import NullType

from hoglet.events.errors import StateChanged
from hoglet.events.groups import GroupState
from hoglet.events.known_uuids import KnownUuids
from hoglet.events.persons.model import (
    DistinctIdState,
    PersonState,
    PersonStoreState,
)
from hoglet.events.tables import (
    DistinctIdRow,
    GroupRow,
    GroupTypeRow,
    IngestionWarningRow,
    PersonRow,
    RetiredDistinctIdRow,
)
from hoglet.store.database import Base, insert_into, insert_rows, values_of

_NAMES_PER_STATEMENT = 500

type _PersonFields = tuple[str, int, UUID, str, datetime, bool, int]
"""A distinct id, its version, and the fields of its :class:`PersonState`."""


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
            merging: distinct ids in merges; all distinct ids of their persons are loaded, too.
        """
        rows = await _person_rows(session, project_id, {*names, *merging})
        persons = {
            person.int: PersonState(person, text, created_at, is_identified, version)
            for _, _, person, text, created_at, is_identified, version in rows
        }
        ids = {
            name: DistinctIdState(name, person, version)
            for name, version, person, _, _, _, _ in rows
        }
        touched = {ids[name].person_id for name in merging if name in ids}
        for row in await _all_ids(session, project_id, touched):
            item = DistinctIdState(row.distinct_id, row.person_id, row.version)
            ids.setdefault(row.distinct_id, item)
        unknown = {*names, *merging} - ids.keys()
        retired = await _retired(session, project_id, unknown)
        return PersonStoreState(list(persons.values()), list(ids.values()), retired=retired)

    async def save_persons(
        self,
        session: AsyncSession,
        project_id: int,
        changes: PersonStoreState,
        *,
        checked: bool = False,
    ) -> None:
        """Write the changes of a batch, from :meth:`PersonStore.changes`.

        Args:
            session: a write transaction.
            project_id: the project of the persons.
            changes: the changed rows, with each version incremented.
            checked: detect changes by other processes since the load; only on PostgreSQL.

        Raises:
            StateChanged: another process changed the same persons; roll back.
        """
        if checked:
            await _lock_persons(session, project_id, changes)
        persons = _person_columns(project_id, changes)
        await _upsert(session, PersonRow, persons, keys=("id", "project_id"), checked=checked)
        ids = _distinct_id_columns(project_id, changes)
        keys = ("project_id", "distinct_id")
        await _upsert(session, DistinctIdRow, ids, keys=keys, checked=checked)
        deleted = [person.id for person in changes.deleted]
        if checked and await _all_ids(session, project_id, deleted):
            raise StateChanged("A merged person received another distinct id.")
        for part in batched(deleted, _NAMES_PER_STATEMENT):
            missing = (PersonRow.project_id == project_id) & PersonRow.id.in_(part)
            await session.execute(delete(PersonRow).where(missing))

    async def group_types(self, session: AsyncSession, project_id: int) -> dict[str, int]:
        """Group types by name: ``{"company": 0}``."""
        statement = select(GroupTypeRow.group_type, GroupTypeRow.group_index)
        rows = await session.execute(statement.where(GroupTypeRow.project_id == project_id))
        return {row.group_type: row.group_index for row in rows}

    async def load_groups(
        self, session: AsyncSession, project_id: int, keys: Collection[tuple[int, str]]
    ) -> list[GroupState]:
        """The existing groups with these ``(index, key)``."""
        states: list[GroupState] = []
        key = tuple_(GroupRow.group_index, GroupRow.group_key)
        for part in batched(keys, _NAMES_PER_STATEMENT):
            statement = select(GroupRow).where(GroupRow.project_id == project_id, key.in_(part))
            states.extend(
                GroupState(
                    row.group_index,
                    row.group_key,
                    row.properties,
                    row.created_at,
                    row.updated_at,
                    row.version,
                )
                for row in await session.scalars(statement)
            )
        return states

    async def save_groups(
        self,
        session: AsyncSession,
        project_id: int,
        new_types: Mapping[str, int],
        changes: Iterable[GroupState],
        *,
        checked: bool = False,
    ) -> None:
        """Write new types and changed groups; ``checked`` as in :meth:`save_persons`."""
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
        keys = ("project_id", "group_index", "group_key")
        await _upsert(session, GroupRow, rows, keys=keys, checked=checked)

    async def claim_group_types(
        self, session: AsyncSession, project_id: int, new_types: Mapping[str, int]
    ) -> None:
        """Write new types before their indexes are used, on PostgreSQL.

        Raises:
            StateChanged: another process took an index or defined a type; roll back.
        """
        lock = func.pg_advisory_xact_lock(func.hashtext(f"group_types:{project_id}"))
        await session.execute(select(lock))
        stored = await self.group_types(session, project_id)
        for kind, index in new_types.items():
            if stored.get(kind, index) != index or (
                kind not in stored and index in stored.values()
            ):
                raise StateChanged("Another group of events defined group types.")
        await self.save_groups(session, project_id, new_types, [])

    async def seen(
        self, session: AsyncSession, project_id: int, uuids: Sequence[UUID]
    ) -> set[UUID]:
        """The UUIDs that the project has stored recently."""
        return await self._known.find(session, project_id, uuids)

    async def add_seen(
        self,
        session: AsyncSession,
        project_id: int,
        uuids: Iterable[UUID],
        *,
        checked: bool = False,
    ) -> None:
        """Record the UUIDs of stored events; ``checked`` as in :meth:`save_persons`."""
        unique = set(uuids)
        added = await self._known.add(session, project_id, unique)
        if checked and added != len(unique):
            raise StateChanged("An event with the same UUID was stored.")

    async def add_warnings(
        self, session: AsyncSession, counts: Sequence[Any], at: datetime
    ) -> None:
        """Add counts of :class:`hoglet.events.warnings.WarningCount` to those of the day."""
        rows = [
            {
                "project_id": count.project_id,
                "kind": count.kind,
                "day": at.date(),
                "count": count.count,
                "example": count.example,
                "last_at": at,
            }
            for count in sorted(counts, key=lambda count: (count.project_id, count.kind))
        ]
        statement = insert_into(session, IngestionWarningRow)
        given = statement.excluded
        added = statement.on_conflict_do_update(
            index_elements=["project_id", "kind", "day"],
            set_={
                "count": IngestionWarningRow.count + given.count,
                "example": given.example,
                "last_at": given.last_at,
            },
        )
        await insert_rows(session, added, rows)

    async def warnings(self, session: AsyncSession, project_id: int) -> list[IngestionWarningRow]:
        """A project's ingestion warnings, newest first."""
        statement = select(IngestionWarningRow).where(IngestionWarningRow.project_id == project_id)
        return list(
            (await session.scalars(statement.order_by(IngestionWarningRow.last_at.desc()))).all()
        )


async def _person_rows(
    session: AsyncSession, project_id: int, names: Collection[str]
) -> list[_PersonFields]:
    if not names:
        return []
    given = values_of(session, DistinctIdRow.distinct_id, sorted(names))
    columns = (
        DistinctIdRow.distinct_id,
        DistinctIdRow.version,
        PersonRow.id,
        PersonRow.properties,
        PersonRow.created_at,
        PersonRow.is_identified,
        PersonRow.version,
    )
    statement = (
        select(*(type_coerce(column, NullType()) for column in columns))
        .join(
            PersonRow,
            (PersonRow.id == DistinctIdRow.person_id)
            & (PersonRow.project_id == DistinctIdRow.project_id),
        )
        .where(DistinctIdRow.project_id == project_id, DistinctIdRow.distinct_id.in_(given))
    )
    # A group has thousands of rows: with a session each takes 1.5 times as long, and the types of
    # the columns take 2 µs of a row, msgspec 0.4.
    connection = await session.connection()
    rows = [tuple(row) for row in await connection.execute(statement)]
    return msgspec.convert(rows, list[_PersonFields], strict=False)


def _person_columns(project_id: int, changes: PersonStoreState) -> list[dict[str, Any]]:
    return [
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


def _distinct_id_columns(project_id: int, changes: PersonStoreState) -> list[dict[str, Any]]:
    return [
        {
            "project_id": project_id,
            "distinct_id": item.distinct_id,
            "person_id": item.person_id,
            "version": item.version,
        }
        for item in changes.ids
    ]


async def _all_ids(session: AsyncSession, project_id: int, persons: Collection[UUID]) -> list[Any]:
    if not persons:
        return []
    given = values_of(session, DistinctIdRow.person_id, list(persons))
    statement = select(DistinctIdRow).where(
        DistinctIdRow.project_id == project_id, DistinctIdRow.person_id.in_(given)
    )
    return list((await session.scalars(statement)).all())


async def _retired(
    session: AsyncSession, project_id: int, names: Collection[str]
) -> dict[str, int]:
    """The versions of distinct ids whose person was deleted."""
    if not names:
        return {}
    given = values_of(session, RetiredDistinctIdRow.distinct_id, sorted(names))
    statement = select(RetiredDistinctIdRow.distinct_id, RetiredDistinctIdRow.version).where(
        RetiredDistinctIdRow.project_id == project_id,
        RetiredDistinctIdRow.distinct_id.in_(given),
    )
    return {row.distinct_id: row.version for row in await session.execute(statement)}


async def _lock_persons(session: AsyncSession, project_id: int, changes: PersonStoreState) -> None:
    """Lock the persons of a change in the order of their ids; they must not have changed since."""
    loaded = {
        item.id: item.version - 1
        for item in (*changes.persons, *changes.deleted)
        if item.version > 1
    }
    new = {item.id for item in changes.persons} - loaded.keys()
    named = {item.person_id for item in changes.ids} - new
    stored: dict[UUID, int] = {}
    for part in batched(sorted(named | loaded.keys()), _NAMES_PER_STATEMENT):
        statement = select(PersonRow.id, PersonRow.version).where(
            PersonRow.project_id == project_id, PersonRow.id.in_(part)
        )
        rows = await session.execute(statement.order_by(PersonRow.id).with_for_update())
        stored.update((row.id, row.version) for row in rows)
    is_same = named <= stored.keys() and all(
        stored.get(person) == version for person, version in loaded.items()
    )
    if not is_same:
        raise StateChanged("Another group of events changed a person.")


async def _upsert(
    session: AsyncSession,
    table: type[Base],
    rows: list[dict[str, Any]],
    *,
    keys: tuple[str, ...],
    checked: bool = False,
) -> None:
    """Insert rows; replace the other columns of existing keys.

    ``checked``: raise StateChanged if an existing row does not have the previous version.
    """
    if not rows:
        return
    statement = insert_into(session, table)
    changed = [name for name in rows[0] if name not in keys]
    values = {name: statement.excluded[name] for name in changed}
    if not checked:
        upsert = statement.on_conflict_do_update(index_elements=list(keys), set_=values)
        await insert_rows(session, upsert, rows)
        return
    version: Any = table.__table__.c.version
    is_next = version == statement.excluded.version - 1
    upsert = statement.on_conflict_do_update(
        index_elements=list(keys), set_=values, where=is_next
    ).returning(version)
    ordered = sorted(rows, key=lambda row: [str(row[key]) for key in keys])
    connection = await session.connection()
    if len((await connection.execute(upsert, ordered)).all()) != len(rows):
        raise StateChanged(f"Another group of events changed {table.__tablename__}.")
