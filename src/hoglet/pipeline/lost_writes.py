"""Reports that the database or the warehouse has lost writes that it had confirmed.

PostgreSQL does so if a standby takes over without the last commits, or if it is restored from an
older dump; the warehouse, if it is restored from an older backup. What is stored can be used, so
this is no failure of the server: it is logged, counted and shown as a warning.

Source: docs/adr/0071-lost-writes.md.
"""

from datetime import datetime
from typing import Literal

import structlog
from prometheus_client import CollectorRegistry, Counter

from hoglet.kit.clock import Clock

type Storage = Literal["database", "warehouse"]

_FACTS: dict[Storage, str] = {
    "database": "the database has lost commits: it knows less than was stored",
    "warehouse": "the warehouse has lost inserts: it has less than the database knows",
}

log = structlog.get_logger()


class LostWrites:
    """Losses that this process has noticed since its start.

    Args:
        registry: registry of the metric.
        clock: the clock by which captured requests are dated.

    Attributes:
        doubtful_until: events received up to this time may be in the warehouse although the
            database does not know them; None if there are none.
    """

    def __init__(self, registry: CollectorRegistry, clock: Clock) -> None:
        self._clock = clock
        self._noticed_at: dict[Storage, datetime] = {}
        self.doubtful_until: datetime | None = None
        self._count = Counter(
            "hoglet_lost_writes",
            "Times that the database or the warehouse had lost confirmed writes.",
            ("storage",),
            registry=registry,
        )
        for storage in _FACTS:
            self._count.labels(storage)

    def report(self, storage: Storage) -> None:
        """Report a loss that was noticed just now."""
        now = self._clock.now()
        self._noticed_at[storage] = now
        if storage == "database":
            self.doubtful_until = now
        self._count.labels(storage).inc()
        log.error(_FACTS[storage], action="writes_lost", storage=storage)

    def warnings(self) -> list[str]:
        """A sentence for each storage that has lost writes."""
        return [
            f"{_FACTS[storage]} (noticed at {at:%Y-%m-%d %H:%M:%S} UTC; see LostWrites in "
            "docs/runbooks.md)"
            for storage, at in self._noticed_at.items()
        ]
