"""Reports entries that the spool log has lost: in the log, a metric and warnings.

Entries are lost if a stream is deleted, purged, or restored from an old backup. They cannot be
recovered, so the loss must be visible. Their projects are unknown, so every project gets an
ingestion warning; the operator gets one of ``hoglet status``.
"""

from collections.abc import Collection
from datetime import datetime

import structlog
from prometheus_client import CollectorRegistry, Counter
from sqlalchemy import select

from hoglet.access.tables import ProjectRow
from hoglet.events.warnings import IngestionWarnings
from hoglet.kit.clock import Clock
from hoglet.spool.positions import Position, former_logs
from hoglet.store.database import Database

WARNING = "spool_entries_gone"
_DETAIL = "Accepted events are gone from the spool; some may belong to this project."

_RUNBOOK = "see SpoolLosses in docs/runbooks.md"

log = structlog.get_logger()


class SpoolLosses:
    """Reports missing entries.

    Args:
        database: has the projects.
        warnings: counts an ingestion warning for each project.
        registry: registry of the metric.
        clock: dates what is noticed.
    """

    def __init__(
        self,
        database: Database,
        warnings: IngestionWarnings,
        registry: CollectorRegistry,
        clock: Clock,
    ) -> None:
        self._database = database
        self._warnings = warnings
        self._clock = clock
        self._noticed_at: datetime | None = None
        self._count = Counter(
            "hoglet_spool_losses",
            "Times that accepted entries were missing from the spool log.",
            registry=registry,
        )

    def operator_warnings(self) -> list[str]:
        """A sentence if this process has noticed a loss since its start."""
        if self._noticed_at is None:
            return []
        noticed = f"noticed at {self._noticed_at:%Y-%m-%d %H:%M:%S} UTC"
        return [f"accepted events are gone from the spool ({noticed}; {_RUNBOOK})"]

    async def missing_entries(self, position: Position) -> None:
        """Report that the range in progress lacks entries; the remaining ones are stored."""
        log.error(
            "entries of the spool log are gone",
            action="spool_entries_gone",
            partition=position.partition,
            first=position.group_from,
            last=position.group_to,
        )
        await self._report(position.partition)

    async def replaced(self, position: Position) -> None:
        """Report that the log ends before the stored position, so it is read from its beginning."""
        log.error(
            "the spool log was replaced: it ends before the stored position",
            action="spool_replaced",
            partition=position.partition,
            position=position.done_upto,
        )
        await self._report(position.partition)

    async def taken_first(self, position: Position) -> None:
        """Report the logs that this one, which nobody has read before, takes the place of.

        A stream that is deleted while no server runs is another log when it is created again. So is
        one of another broker; whether entries were left in the former one is not known.
        """
        async with self._database.read() as session:
            former = await former_logs(session, position.log)
        if former:
            log.error(
                "the spool is another stream than before: entries that were not stored from the "
                "former one are gone, or still there",
                action="spool_entries_gone",
                former=former,
            )
            await self._report(None)

    async def purged(self, partitions: Collection[int]) -> None:
        """Report that somebody deleted entries of the log while this process had it open."""
        log.error(
            "entries of the spool log were deleted: those that were not stored are gone",
            action="spool_entries_gone",
            partitions=sorted(partitions),
        )
        await self._report(None)

    async def created_again(self) -> None:
        """Report that the log was deleted and created again while this process had it open."""
        log.error(
            "the spool log was deleted: entries that were not stored are gone",
            action="spool_entries_gone",
        )
        await self._report(None)

    async def _report(self, partition: int | None) -> None:
        self._count.inc()
        self._noticed_at = self._clock.now()
        async with self._database.read() as session:
            projects = list(await session.scalars(select(ProjectRow.id)))
        for project_id in projects:
            self._warnings.note(project_id, WARNING, {"detail": _DETAIL, "partition": partition})
