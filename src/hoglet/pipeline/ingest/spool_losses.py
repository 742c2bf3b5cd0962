"""Entries that the spool log has lost: logged, counted, and shown as ingestion warnings.

Nothing can bring them back, so they must not go unseen: a stream was deleted, purged, or restored
from an old backup. Whose they were is unknown, so each project is warned.
"""

import structlog
from prometheus_client import CollectorRegistry, Counter
from sqlalchemy import select

from hoglet.access.tables import ProjectRow
from hoglet.events.warnings import IngestionWarnings
from hoglet.spool.positions import Position
from hoglet.store.database import Database

WARNING = "spool_entries_gone"
_DETAIL = "Accepted events are gone from the spool; some may belong to this project."

log = structlog.get_logger()


class SpoolLosses:
    """Reports what is missing.

    Args:
        database: of the projects.
        warnings: counts an ingestion warning of each project.
        registry: of the metric.
    """

    def __init__(
        self, database: Database, warnings: IngestionWarnings, registry: CollectorRegistry
    ) -> None:
        self._database = database
        self._warnings = warnings
        self._count = Counter(
            "hoglet_spool_losses",
            "Times that accepted entries were missing from the spool log.",
            registry=registry,
        )

    async def missing_entries(self, position: Position) -> None:
        """A begun range lacks entries; what is left of it is stored."""
        log.error(
            "entries of the spool log are gone",
            action="spool_entries_gone",
            partition=position.partition,
            first=position.group_from,
            last=position.group_to,
        )
        await self._report(position.partition)

    async def replaced(self, position: Position) -> None:
        """The log ends before the stored position; it is read from its beginning."""
        log.error(
            "the spool log was replaced: it ends before the stored position",
            action="spool_replaced",
            partition=position.partition,
            position=position.done_upto,
        )
        await self._report(position.partition)

    async def _report(self, partition: int) -> None:
        self._count.inc()
        async with self._database.read() as session:
            projects = list(await session.scalars(select(ProjectRow.id)))
        for project_id in projects:
            self._warnings.note(project_id, WARNING, {"detail": _DETAIL, "partition": partition})
