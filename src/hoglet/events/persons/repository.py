"""Reads persons and their distinct ids; a person is found by UUID, number or distinct id.

A person's number is derived from its UUID and needs no column: the first 12 hexadecimal digits and
the 14th (the 13th is the UUID version), 52 bits, which JSON clients read without loss.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.events.tables import DistinctIdRow, PersonRow

MAX_NUMBER = 2**52 - 1
_IDS_PER_STATEMENT = 500


class PersonRecord(NamedTuple):
    """A person with its distinct ids, sorted."""

    id: UUID
    properties: dict[str, Any]
    created_at: datetime
    is_identified: bool
    version: int
    distinct_ids: list[str]
    last_seen_at: datetime | None = None

    @property
    def number(self) -> int:
        """The number of this person, e.g. 1234567890123456."""
        return number_of(self.id)


def number_of(person_id: UUID) -> int:
    """The number of a person."""
    return (person_id.int >> 80) << 4 | (person_id.int >> 72) & 0xF


async def find_by_uuid(
    session: AsyncSession, project_id: int, person_id: UUID
) -> PersonRecord | None:
    """The person with this UUID."""
    persons = await load_persons(session, project_id, [person_id])
    return persons[0] if persons else None


async def find_by_number(session: AsyncSession, project_id: int, number: int) -> list[PersonRecord]:
    """The persons with this number; collisions are possible but very unlikely."""
    if not 0 <= number <= MAX_NUMBER:
        return []
    lowest = (number >> 4) << 80
    candidates = select(PersonRow.id).where(
        PersonRow.project_id == project_id,
        PersonRow.id >= UUID(int=lowest),
        PersonRow.id <= UUID(int=lowest | (1 << 80) - 1),
    )
    near = await session.scalars(candidates)
    return await load_persons(
        session, project_id, [item for item in near if number_of(item) == number]
    )


async def find_by_distinct_id(
    session: AsyncSession, project_id: int, distinct_id: str
) -> PersonRecord | None:
    """The person with this distinct id."""
    if "\x00" in distinct_id:  # PostgreSQL rejects NUL, and no distinct id contains it
        return None
    statement = select(DistinctIdRow.person_id).where(
        DistinctIdRow.project_id == project_id, DistinctIdRow.distinct_id == distinct_id
    )
    person_id = await session.scalar(statement)
    return None if person_id is None else await find_by_uuid(session, project_id, person_id)


async def find_by_distinct_ids(
    session: AsyncSession, project_id: int, distinct_ids: Sequence[str]
) -> list[PersonRecord]:
    """The persons with these distinct ids, without duplicates."""
    ids: dict[UUID, None] = {}
    for start in range(0, len(distinct_ids), _IDS_PER_STATEMENT):
        statement = select(DistinctIdRow.person_id).where(
            DistinctIdRow.project_id == project_id,
            DistinctIdRow.distinct_id.in_(distinct_ids[start : start + _IDS_PER_STATEMENT]),
        )
        ids |= dict.fromkeys(await session.scalars(statement))
    return await load_persons(session, project_id, list(ids))


async def load_persons(
    session: AsyncSession, project_id: int, ids: Sequence[UUID], *, lock: bool = False
) -> list[PersonRecord]:
    """The existing persons with these UUIDs, in the order of ``ids``.

    ``lock`` locks them until the transaction ends, in that order: sort the ids, as groups of events
    do. Distinct ids are only given to a person, or taken away, under its lock.
    """
    persons: dict[UUID, PersonRow] = {}
    names: dict[UUID, list[str]] = {}
    for start in range(0, len(ids), _IDS_PER_STATEMENT):
        part = ids[start : start + _IDS_PER_STATEMENT]
        rows = _of_project(PersonRow, PersonRow.id, project_id, part)
        if lock:
            rows = rows.order_by(PersonRow.id).with_for_update()
        for row in await session.scalars(rows):
            persons[row.id] = row
        statement = _of_project(DistinctIdRow, DistinctIdRow.person_id, project_id, part)
        for row in await session.scalars(statement.order_by(DistinctIdRow.distinct_id)):
            names.setdefault(row.person_id, []).append(row.distinct_id)
    return [_record(persons[each], names.get(each, [])) for each in ids if each in persons]


def _of_project(
    table: type[Any], column: Any, project_id: int, ids: Collection[UUID]
) -> Select[Any]:
    return select(table).where(table.project_id == project_id, column.in_(ids))


def _record(row: PersonRow, distinct_ids: list[str]) -> PersonRecord:
    return PersonRecord(
        row.id,
        orjson.loads(row.properties or "{}"),
        row.created_at,
        row.is_identified,
        row.version,
        distinct_ids,
    )
