"""Requests to cancel a run that waits on another server of the same PostgreSQL.

The server that receives the request does not know which server has the run, so it writes a row.
Each server that has runs with ids looks for such rows every half second, cancels its run and
reports in the row.
"""

import asyncio
from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from sqlalchemy import delete, select, update

from hoglet.endpoints.tables import CancelRequestRow
from hoglet.kit.clock import Clock
from hoglet.kit.ids import new_id
from hoglet.store.database import Database

POLL_SECONDS = 0.5
FOUND_WITHIN_SECONDS = 2.0
ENDED_WITHIN_SECONDS = 35.0  # the warehouse tries to stop a query for this long
_STEP_SECONDS = 0.1
_VALID_FOR = timedelta(minutes=1)  # a request of a killed server must not cancel a later run

type RunKey = tuple[UUID, str]


class CancelRequests:
    """The rows through which servers request the cancellation of each other's runs.

    Concurrency: any number of servers; with SQLite there is one, and nothing is written.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self.is_shared = not database.is_sqlite

    async def ask(self, key: RunKey) -> bool:
        """Ask other servers to cancel a run, and wait until it has ended.

        Returns:
            Whether one had it.
        """
        if not self.is_shared:
            return False
        owner_id, query_id = key
        row_id = new_id()
        now = self._clock.now()
        async with self._database.write() as session:
            expired = CancelRequestRow.requested_at < now - _VALID_FOR
            await session.execute(delete(CancelRequestRow).where(expired))
            session.add(
                CancelRequestRow(id=row_id, owner_id=owner_id, query_id=query_id, requested_at=now)
            )
        try:
            if not await self._reported(row_id, "found_at", FOUND_WITHIN_SECONDS):
                return False
            await self._reported(row_id, "ended_at", ENDED_WITHIN_SECONDS)
            return True
        finally:
            async with self._database.write() as session:
                await session.execute(delete(CancelRequestRow).where(CancelRequestRow.id == row_id))

    async def find(self, keys: Collection[RunKey]) -> list[tuple[UUID, RunKey]]:
        """The open requests for these runs: ``[(request id, key)]``."""
        async with self._database.read() as session:
            rows = await session.execute(
                select(
                    CancelRequestRow.id, CancelRequestRow.owner_id, CancelRequestRow.query_id
                ).where(
                    CancelRequestRow.found_at.is_(None),
                    CancelRequestRow.requested_at > self._clock.now() - _VALID_FOR,
                )
            )
            requests = [(row_id, (owner, query_id)) for row_id, owner, query_id in rows]
        return [request for request in requests if request[1] in keys]

    async def report(self, row_id: UUID, *, is_ended: bool) -> None:
        """Tell the asking server that the run was found, or has ended."""
        now = self._clock.now()
        values = {"ended_at": now} if is_ended else {"found_at": now}
        async with self._database.write() as session:
            await session.execute(
                update(CancelRequestRow).where(CancelRequestRow.id == row_id).values(values)
            )

    async def _reported(self, row_id: UUID, column: str, seconds: float) -> bool:
        for _ in range(round(seconds / _STEP_SECONDS)):
            await asyncio.sleep(_STEP_SECONDS)
            async with self._database.read() as session:
                row = await session.get(CancelRequestRow, row_id)
            if row is not None and getattr(row, column) is not None:
                return True
        return False
