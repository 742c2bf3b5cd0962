"""Periodic maintenance: flushes warnings, deletes old dead letters and masking windows."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from hoglet.access import rate_limit
from hoglet.events.known_uuids import KnownUuids
from hoglet.events.warnings import IngestionWarnings
from hoglet.functions import pauses as pause_repository
from hoglet.functions.dead_letters.service import DeadLetters
from hoglet.functions.masking import drop_expired
from hoglet.kit.clock import Clock
from hoglet.pipeline.delivery import host_rates
from hoglet.pipeline.ingest.filtered_counts import DeferredFilteredCounts
from hoglet.pipeline.queue_metrics import QueueMetrics
from hoglet.store.database import Database

log = structlog.get_logger()

WARNINGS_EVERY_S = 5.0
PRUNE_EVERY_S = 600.0
COUNT_EVERY_S = 60.0


class ExpiredRows:
    """Deletes dead letters, masking windows, pauses, rate limits and event ids that expired."""

    def __init__(
        self, database: Database, dead_letters: DeadLetters, known_uuids: KnownUuids, clock: Clock
    ) -> None:
        self._database = database
        self._dead_letters = dead_letters
        self._known_uuids = known_uuids
        self._clock = clock

    async def delete(self) -> None:
        """Delete all expired rows except event ids, in one transaction."""
        async with self._database.write() as session:
            await self._dead_letters.prune(session)
            await drop_expired(session, self._clock.now())
            await pause_repository.drop_ended(session, self._clock.now())
            await rate_limit.drop_expired(session, self._clock.now())
            await host_rates.drop_idle(session, self._clock.now())

    async def delete_uuids(self) -> None:
        """Delete UUIDs of events that are too old to be sent again."""
        await self._known_uuids.drop_expired(self._database)


class MaintenanceWorker:
    """Runs maintenance until it is stopped, then flushes the warnings."""

    def __init__(
        self,
        warnings: IngestionWarnings,
        metrics: QueueMetrics,
        filtered_counts: DeferredFilteredCounts,
        expired: ExpiredRows,
    ) -> None:
        self._warnings = warnings
        self._metrics = metrics
        self._filtered_counts = filtered_counts
        self._expired = expired
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Run until :meth:`stop`."""
        until_pruning = until_counting = 0.0
        while not self._stopping.is_set():
            await self._guarded(self._warnings.flush())
            await self._guarded(self._metrics.measure())
            until_pruning -= WARNINGS_EVERY_S
            if until_pruning <= 0:
                until_pruning = PRUNE_EVERY_S
                await self._guarded(self._expired.delete())
                await self._guarded(self._expired.delete_uuids())
            until_counting -= WARNINGS_EVERY_S
            if until_counting <= 0:
                until_counting = COUNT_EVERY_S
                await self._guarded(self._filtered_counts.settle())
            await self._pause()
        await self._guarded(self._filtered_counts.settle())
        await self._guarded(self._warnings.flush())

    def stop(self) -> None:
        """Make :meth:`run` return."""
        self._stopping.set()

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except SQLAlchemyError:
            log.exception("maintenance failed", action="maintenance_failed")

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(WARNINGS_EVERY_S):
                await self._stopping.wait()
        except TimeoutError:
            return
