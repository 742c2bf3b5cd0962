"""Depth and lag of the queues as Prometheus metrics, measured every few seconds.

Every server that shares a database measures the same queues: take the maximum, not the sum.
"""

import msgspec
from prometheus_client import CollectorRegistry, Gauge

from hoglet.events.spool import SPOOL_QUEUE
from hoglet.functions.dead_letters import repository as dead_letter_repository
from hoglet.functions.jobs import BACKFILL_QUEUE, INVOKE_QUEUE
from hoglet.pipeline.ingest.replication import COPIES_QUEUE
from hoglet.pipeline.internal_events import INTERNAL_QUEUE
from hoglet.pipeline.spool_backlog import SpoolBacklog
from hoglet.queue import Depth, Queue
from hoglet.queue.dead_letters import count_failed
from hoglet.store.database import ChangeMark, Database

QUEUES = (SPOOL_QUEUE, INVOKE_QUEUE, BACKFILL_QUEUE, COPIES_QUEUE, INTERNAL_QUEUE)
_NONE = Depth(ready=0, delayed=0, leased=0, failed=0, lag_seconds=0.0)


class QueueMetrics:
    """Measures the queues of the pipeline."""

    def __init__(
        self,
        database: Database,
        queue: Queue,
        backlog: SpoolBacklog,
        registry: CollectorRegistry,
    ) -> None:
        self._database = database
        self._queue = queue
        self._backlog = backlog
        self._jobs = Gauge(
            "hoglet_queue_jobs",
            "Jobs by state: ready, delayed (a retry), leased, failed (permanently).",
            ("queue", "state"),
            registry=registry,
        )
        self._queues_with_failed = set(QUEUES)
        self._empty_at: ChangeMark | None = None
        self._dead_letters = Gauge(
            "hoglet_dead_letters",
            "Dead letters of all functions that were not redriven.",
            registry=registry,
        )
        self._spool_lag = Gauge(
            "hoglet_spool_lag_seconds",
            "How long the oldest captured request has waited to be stored.",
            registry=registry,
        )
        self._lag = Gauge(
            "hoglet_queue_lag_seconds",
            "How long the oldest ready job has waited.",
            ("queue",),
            registry=registry,
        )

    async def _count_dead_letters(self) -> None:
        async with self._database.read() as session:
            self._dead_letters.set(await dead_letter_repository.count_waiting(session))

    async def _count_failed_jobs(self) -> None:
        """Count permanently failed jobs of every queue, including those of other packages."""
        async with self._database.read() as session:
            failed_jobs = await count_failed(session)
        for queue in self._queues_with_failed - failed_jobs.keys():
            self._jobs.labels(queue, "failed").set(0)
        for queue, number in failed_jobs.items():
            self._jobs.labels(queue, "failed").set(number)
        self._queues_with_failed |= failed_jobs.keys()

    async def _with_log(self, depth: Depth) -> Depth:
        backlog = await self._backlog.measure()
        return msgspec.structs.replace(
            depth,
            ready=depth.ready + backlog.positions,
            lag_seconds=max(depth.lag_seconds, backlog.lag_seconds),
        )

    async def measure(self) -> None:
        """Update the metrics, unless all queues are empty and nothing was committed since."""
        mark = self._database.change_mark()
        if mark is not None and mark == self._empty_at:
            return
        waiting = 0
        await self._count_dead_letters()
        await self._count_failed_jobs()
        unfinished = await self._queue.unfinished(QUEUES)
        for queue in QUEUES:
            depth = await self._queue.depth(queue) if queue in unfinished else _NONE
            if queue == SPOOL_QUEUE:
                depth = await self._with_log(depth)
            for state in ("ready", "delayed", "leased"):
                self._jobs.labels(queue, state).set(getattr(depth, state))
            waiting += depth.ready + depth.delayed + depth.leased
            self._lag.labels(queue).set(depth.lag_seconds)
            if queue == SPOOL_QUEUE:
                self._spool_lag.set(depth.lag_seconds)
        self._empty_at = None if waiting else mark
