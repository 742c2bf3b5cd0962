"""Depth and lag of the queues as Prometheus figures, measured every few seconds.

Every server that shares a database measures the same queues: take the maximum, not the sum.
"""

from prometheus_client import CollectorRegistry, Gauge

from hoglet.events.spool import SPOOL_QUEUE
from hoglet.functions.jobs import INVOKE_QUEUE
from hoglet.pipeline.copies import COPIES_QUEUE
from hoglet.pipeline.internal_events import INTERNAL_QUEUE
from hoglet.queue import Queue

QUEUES = (SPOOL_QUEUE, INVOKE_QUEUE, COPIES_QUEUE, INTERNAL_QUEUE)


class QueueGauges:
    """Measures the queues of the pipeline."""

    def __init__(self, queue: Queue, registry: CollectorRegistry) -> None:
        self._queue = queue
        self._jobs = Gauge(
            "hoglet_queue_jobs",
            "Jobs by state: ready, delayed (a retry), leased, buried (given up).",
            ("queue", "state"),
            registry=registry,
        )
        self._lag = Gauge(
            "hoglet_queue_lag_seconds",
            "How long the oldest ready job has waited.",
            ("queue",),
            registry=registry,
        )

    async def measure(self) -> None:
        """Take the figures anew."""
        for queue in QUEUES:
            depth = await self._queue.depth(queue)
            for state in ("ready", "delayed", "leased", "buried"):
                self._jobs.labels(queue, state).set(getattr(depth, state))
            self._lag.labels(queue).set(depth.lag_seconds)
