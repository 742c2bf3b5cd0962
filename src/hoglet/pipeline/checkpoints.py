"""Checkpoints: numbers that the database and the warehouse both store, to notice lost writes.

While events are stored, a number is taken from the database every ten seconds, written to the
warehouse, and confirmed in the database. So the warehouse never has a higher number than the
database has taken, nor a lower one than it has confirmed, unless one of them has lost writes.

Source: docs/adr/0071-lost-writes.md.
"""

import asyncio
import contextlib

import structlog
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.kit.errors import HogletError
from hoglet.pipeline.health import PipelineHealth
from hoglet.pipeline.lost_writes import LostWrites
from hoglet.pipeline.tables import WarehouseCheckpointRow
from hoglet.store.database import Database, insert_into
from hoglet.warehouse.port import STARTUP, Warehouse

EVERY_SECONDS = 10.0
_NEWEST = "SELECT max(number) FROM hoglet_checkpoints"
_Row = WarehouseCheckpointRow

log = structlog.get_logger()


class Checkpoints:
    """Takes checkpoints while groups are stored, and compares them at the start.

    Args:
        database: has taken and confirmed the numbers.
        warehouse: has the numbers that were written.
        lost_writes: receives reports.
        health: counts the stored groups of this process.
        is_replicated: a replica of the warehouse may lack the last numbers.
    """

    def __init__(
        self,
        database: Database,
        warehouse: Warehouse,
        lost_writes: LostWrites,
        health: PipelineHealth,
        *,
        is_replicated: bool = False,
    ) -> None:
        self._database = database
        self._warehouse = warehouse
        self._lost_writes = lost_writes
        self._health = health
        self._is_replicated = is_replicated
        self._last = 0
        self._covered = 0
        self._stopping = asyncio.Event()

    async def compare(self) -> None:
        """Report writes that were lost before this process started.

        What is confirmed is read before the warehouse and what is taken after it, because other
        servers may take a checkpoint meanwhile.
        """
        async with self._database.write() as session:
            confirmed = await session.scalar(select(_Row.confirmed))
            newest: int = (await self._warehouse.query(_NEWEST, budget=STARTUP)).rows[0][0]
            stored = await self._locked(session, first=newest)
            self._last = max(stored.taken, newest)
            if newest > stored.taken:
                self._lost_writes.report("database")
                stored.taken = newest
            if newest < (confirmed or 0) and not self._is_replicated:
                self._lost_writes.report("warehouse")
                stored.confirmed = newest

    async def run(self) -> None:
        """Take checkpoints until :meth:`stop`, and one at the end."""
        while not self._stopping.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), EVERY_SECONDS)
            try:
                await self.take()
            except (HogletError, SQLAlchemyError, OSError) as error:
                log.warning("no checkpoint", action="checkpoint_failed", error=str(error))

    def stop(self) -> None:
        """End :meth:`run`; call it when no groups are stored any more."""
        self._stopping.set()

    async def take(self) -> None:
        """Take a checkpoint if this process has stored something since the last one.

        Reports if the database does not know a number that this process has taken before.
        """
        covered = self._health.stored_groups
        if covered == self._covered:
            return
        async with self._database.write() as session:
            stored = await self._locked(session, first=self._last)
            if stored.taken < self._last:
                self._lost_writes.report("database")
            number = stored.taken = max(stored.taken, self._last) + 1
        self._last = number
        await self._warehouse.insert("hoglet_checkpoints", ["number"], [[number]])
        async with self._database.write() as session:
            stored = await self._locked(session, first=number)
            stored.confirmed = max(stored.confirmed, number)
        self._covered = covered

    async def _locked(self, session: AsyncSession, *, first: int) -> WarehouseCheckpointRow:
        """The row, locked until the end of the transaction; created with a number if it is new."""
        new = insert_into(session, _Row).values(id=1, taken=first, confirmed=first)
        await session.execute(new.on_conflict_do_nothing())
        row = select(_Row).with_for_update().execution_options(populate_existing=True)
        return (await session.scalars(row)).one()
