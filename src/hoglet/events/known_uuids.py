"""Records the UUIDs of stored events, so that repeated events are stored once.

They are grouped by the day of storage, and whole days are deleted. So the database does not grow
forever, and inserting random UUIDs only touches the pages of one day.

Source: docs/spec/hog-functions.md#14-capture, row uuid.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, delete, exists, literal, select, true, tuple_, union_all
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from hoglet.events.tables import KnownUuidRow, SeenEventRow
from hoglet.kit.clock import Clock, SystemClock
from hoglet.store.database import Base, Database, insert_into, values_of

DEFAULT_WINDOW_DAYS = 7
_ROWS_PER_DELETE = 20_000  # bounds how long other writers wait
_SECONDS_PER_DAY = 86_400


class KnownUuids:
    """The UUIDs of events stored within the last days.

    Args:
        clock: the current day, in UTC.
        window_days: number of days within which a repeated event is stored once.
    """

    def __init__(
        self, clock: Clock | None = None, *, window_days: int = DEFAULT_WINDOW_DAYS
    ) -> None:
        self._clock = clock or SystemClock()
        self._window_days = window_days

    async def find(
        self, session: AsyncSession, project_id: int, uuids: Sequence[UUID]
    ) -> set[UUID]:
        """The UUIDs that the project has stored within the window."""
        if not uuids:
            return set()
        given = select(values_of(session, KnownUuidRow.event_uuid, uuids).cte())
        row, legacy = KnownUuidRow, SeenEventRow
        today = self._today()
        # Including the next day, because another server's clock may be ahead.
        days = range(today - self._window_days, today + 2)
        recent = select(row.event_uuid).where(
            row.day.in_(days), row.project_id == project_id, row.event_uuid.in_(given)
        )
        older = select(legacy.event_uuid).where(
            legacy.project_id == project_id, legacy.event_uuid.in_(given)
        )
        return set((await session.scalars(union_all(recent, older))).all())

    async def add(self, session: AsyncSession, project_id: int, uuids: Iterable[UUID]) -> int:
        """Record UUIDs, sorted, because neighbors share a page of the index.

        Returns:
            How many were not recorded today.
        """
        ordered = sorted(uuids, key=attrgetter("int"))
        if not ordered:
            return 0
        given = values_of(session, KnownUuidRow.event_uuid, ordered).subquery()
        rows = select(literal(self._today()), literal(project_id), given).where(true())
        insert = insert_into(session, KnownUuidRow).from_select(
            ["day", "project_id", "event_uuid"], rows
        )
        connection = await session.connection()
        counted = insert.on_conflict_do_nothing().execution_options(preserve_rowcount=True)
        return (await connection.execute(counted)).rowcount

    async def drop_expired(self, database: Database) -> None:
        """Delete expired UUIDs, in several transactions.

        Idempotency: the next call deletes what an interrupted one left.
        """
        expired = KnownUuidRow.day < self._today() - self._window_days
        async with database.read() as session:
            has_expired = await session.scalar(select(exists().where(expired)))
        if not has_expired:
            return
        row, legacy = KnownUuidRow, SeenEventRow
        # A whole window has been recorded by day, so earlier records have expired.
        await _delete_all(database, legacy, (legacy.project_id, legacy.event_uuid), true())
        await _delete_all(database, row, (row.day, row.project_id, row.event_uuid), expired)

    def _today(self) -> int:
        """Days since 1970."""
        return int(self._clock.now().timestamp()) // _SECONDS_PER_DAY


async def _delete_all(
    database: Database,
    table: type[Base],
    key: Sequence[InstrumentedAttribute[Any]],
    condition: ColumnElement[bool],
) -> None:
    """Delete the rows of a table, some in each transaction."""
    part = select(*key).where(condition).limit(_ROWS_PER_DELETE)
    rows = delete(table).where(tuple_(*key).in_(part))
    deleted = _ROWS_PER_DELETE
    while deleted == _ROWS_PER_DELETE:
        async with database.write() as session:
            connection = await session.connection()
            deleted = (await connection.execute(rows)).rowcount
