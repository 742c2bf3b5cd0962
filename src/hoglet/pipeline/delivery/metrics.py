"""Prometheus metrics of delivery, cumulative per process; sum them over servers."""

from collections.abc import Sequence
from datetime import datetime

from prometheus_client import CollectorRegistry, Counter, Histogram

from hoglet.pipeline.delivery.completion_writer import CompletedRun
from hoglet.queue import Job

_DELIVERY_BUCKETS_S = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400)


class DeliveryMetrics:
    """Delivery metrics of a process with the role executor."""

    def __init__(self, registry: CollectorRegistry) -> None:
        deliveries = Counter(
            "hoglet_deliveries",
            "Steps of runs by outcome: succeeded, failed (a dead letter), skipped "
            "(function disabled or deleted), retried (continued later).",
            ("outcome",),
            registry=registry,
        )
        self._outcomes = {
            outcome: deliveries.labels(outcome)
            for outcome in ("succeeded", "failed", "skipped", "retried")
        }
        self._seconds = Histogram(
            "hoglet_delivery_seconds",
            "Time from enqueuing a run to its end, including retries.",
            buckets=_DELIVERY_BUCKETS_S,
            registry=registry,
        )

    def committed(self, runs: Sequence[tuple[Job, CompletedRun]], now: datetime) -> None:
        """Count runs whose outcomes are on disk."""
        for job, run in runs:
            self._outcomes[_outcome(run)].inc()
            if run.has_ended:
                self._seconds.observe(max((now - job.enqueued_at).total_seconds(), 0.0))


def _outcome(run: CompletedRun) -> str:
    if not run.has_ended:
        return "retried"
    if run.dead_letter is not None:
        return "failed"
    return "skipped" if run.observation is None else "succeeded"
