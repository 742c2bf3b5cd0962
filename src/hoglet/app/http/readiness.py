"""Whether a server can store what it accepts, for ``/_readyz`` and ``hoglet status``."""

import shutil
import time

from prometheus_client import Gauge
from sqlalchemy import text

from hoglet.app.services.container import Services
from hoglet.app.services.features import Features
from hoglet.app.services.sandboxes import RECENT_MINUTES
from hoglet.events.spool import SPOOL_QUEUE
from hoglet.functions.dead_letters import repository as dead_letter_repository
from hoglet.queue.dead_letters import count_failed
from hoglet.web.health import Check, NotReady

_REMEMBERED_S = 2.0  # counting scans a table, and several clients may poll
_CAPTURE_S = 30.0  # how long a failed capture affects readiness, unless a later one succeeds
_MB = 1_000_000


class Readiness:
    """Readiness checks, and warnings for operators."""

    def __init__(self, services: Services, features: Features) -> None:
        self._services = services
        self._spool = features.events.spool
        self._spool_losses = features.events.spool_losses
        self._counted_at = 0.0
        self._failed_jobs: dict[str, int] = {}
        self._dead_letters = 0
        if self._has_data_folder:
            free = Gauge(
                "hoglet_disk_free_bytes",
                "Free space of the file system that holds the data folder.",
                registry=services.registry,
            )
            free.set_function(self._free_bytes)

    def checks(self) -> dict[str, Check]:
        """The checks by their name in ``/_readyz``."""
        checks: dict[str, Check] = {
            "storage": self._storage,
            "warehouse": self._warehouse,
            "queue": self._queue,
        }
        if self._has_data_folder:
            checks["disk"] = self._disk
        if "pipeline" in self._services.settings.roles:
            checks["pipeline"] = self._pipeline
        return checks

    async def warnings(self) -> list[str]:
        """Lost writes and spool entries, failed jobs, dead letters, and workers that keep dying."""
        await self._count()
        warnings = self._services.lost_writes.warnings()
        warnings += self._spool_losses.operator_warnings()
        warnings += [
            f"{number} jobs of the queue {queue} failed permanently; see hoglet admin queues failed"
            for queue, number in sorted(self._failed_jobs.items())
            if queue != SPOOL_QUEUE
        ]
        if self._dead_letters:
            warnings.append(f"{self._dead_letters} dead letters can be redriven")
        warnings.extend(
            f"{number} {name} workers died within {RECENT_MINUTES} minutes"
            for name, number in self._services.sandboxes.dying().items()
        )
        return warnings

    async def _storage(self) -> None:
        async with self._services.database.read() as session:
            await session.execute(text("SELECT 1"))
        if self._spool.failed_within(_CAPTURE_S):
            raise NotReady("captured events cannot be written")

    async def _warehouse(self) -> None:
        await self._services.warehouse.query("SELECT 1")

    async def _queue(self) -> None:
        await self._count()
        failed_jobs = self._failed_jobs.get(SPOOL_QUEUE, 0)
        if failed_jobs:
            raise NotReady(
                f"{failed_jobs} captured requests cannot be stored; "
                f"see hoglet admin queues failed, then hoglet admin queues retry {SPOOL_QUEUE}"
            )

    async def _disk(self) -> None:
        free, required = self._free_bytes(), self._services.settings.free_disk_bytes
        if free < required:
            raise NotReady(
                f"{free // _MB} MB are free in the data folder, less than the "
                f"{required // _MB} MB of HOGLET_FREE_DISK_BYTES"
            )

    async def _pipeline(self) -> None:
        problem = self._services.health.problem()
        if problem is not None:
            raise NotReady(problem)

    @property
    def _has_data_folder(self) -> bool:
        """Whether this process writes the database or the warehouse to this machine's disk."""
        settings = self._services.settings
        has_warehouse = bool({"api", "pipeline"} & set(settings.roles))
        is_embedded = has_warehouse and settings.resolved_warehouse_url().startswith("chdb")
        return self._services.database.is_sqlite or is_embedded

    def _free_bytes(self) -> int:
        return shutil.disk_usage(self._services.settings.data_dir).free

    async def _count(self) -> None:
        if time.monotonic() - self._counted_at < _REMEMBERED_S:
            return
        async with self._services.database.read() as session:
            self._failed_jobs = await count_failed(session)
            self._dead_letters = await dead_letter_repository.count_waiting(session)
        self._counted_at = time.monotonic()
