"""Prometheus metrics of stored events: how many, and how long their inserts take."""

from prometheus_client import CollectorRegistry, Counter, Histogram

_BLOCK_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class IngestMetrics:
    """Storage metrics of a process with the role pipeline.

    Attributes:
        events: the events of committed groups, each counted once regardless of attempts.
        insert_seconds: durations of the blocks that were inserted into the warehouse.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.events = Counter(
            "hoglet_events_stored", "Events stored in the warehouse.", registry=registry
        )
        self.insert_seconds = Histogram(
            "hoglet_warehouse_insert_seconds",
            "Time to insert a block of events into the warehouse.",
            buckets=_BLOCK_BUCKETS_S,
            registry=registry,
        )
