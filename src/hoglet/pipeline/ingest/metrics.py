"""Prometheus metrics of ingestion, cumulative per process.

Sum them over servers. Gauges of the spool are in :mod:`hoglet.pipeline.queue_metrics`.
"""

from prometheus_client import CollectorRegistry, Counter, Histogram

_BLOCK_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class IngestMetrics:
    """Storage metrics of a process with the role pipeline."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._events = Counter(
            "hoglet_events_stored", "Events stored in the warehouse.", registry=registry
        )
        self._blocks = Histogram(
            "hoglet_warehouse_insert_seconds",
            "Time to insert a block of events into the warehouse.",
            buckets=_BLOCK_BUCKETS_S,
            registry=registry,
        )

    def inserted(self, seconds: float) -> None:
        """A block is in the warehouse."""
        self._blocks.observe(seconds)

    def stored(self, events: int) -> None:
        """A group was committed; its events are counted once, however often it was tried."""
        self._events.inc(events)
