"""Statements on backfills.

Source: docs/spec/hog-functions.md#91-enable_backfills.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.tables import BackfillRow, BatchExportRow

STARTING, RUNNING, PAUSED = "Starting", "Running", "Paused"
COMPLETED, CANCELLED = "Completed", "Cancelled"
OPEN = (STARTING, RUNNING, PAUSED)


async def find_export(
    session: AsyncSession, project_id: int, export_id: UUID
) -> BatchExportRow | None:
    """The paused export that the backfills of a function belong to."""
    return await session.scalar(
        select(BatchExportRow).where(
            BatchExportRow.id == export_id, BatchExportRow.project_id == project_id
        )
    )


async def find(session: AsyncSession, export_id: UUID, backfill_id: UUID) -> BackfillRow | None:
    """A backfill, locked for update."""
    return await session.scalar(
        select(BackfillRow)
        .where(BackfillRow.id == backfill_id, BackfillRow.batch_export_id == export_id)
        .with_for_update()
    )


async def of_worker(
    session: AsyncSession, backfill_id: UUID
) -> tuple[BackfillRow, BatchExportRow] | None:
    """A backfill, locked, and its export; None if either no longer exists."""
    row = await session.get(BackfillRow, backfill_id, with_for_update=True)
    export = None if row is None else await session.get(BatchExportRow, row.batch_export_id)
    return None if row is None or export is None else (row, export)


async def page(
    session: AsyncSession, export_id: UUID, *, limit: int | None, offset: int
) -> tuple[int, Sequence[BackfillRow]]:
    """A page of backfills, newest first, and the total count."""
    mine = BackfillRow.batch_export_id == export_id
    count = await session.scalar(select(func.count()).select_from(BackfillRow).where(mine))
    newest = select(BackfillRow).where(mine).order_by(BackfillRow.created_at.desc(), BackfillRow.id)
    return count or 0, list(await session.scalars(newest.limit(limit).offset(offset)))


class BackfillProgress(NamedTuple):
    """Runs of a backfill that ended, and further ones of events that match several mappings."""

    succeeded: int = 0
    failed: int = 0
    further: int = 0


async def count_runs(
    session: AsyncSession, progress: Mapping[UUID, BackfillProgress], now: datetime
) -> None:
    """Add runs to the counts of their backfills.

    A further run counts like an event of its own. The last run completes its backfill.
    """
    for backfill_id, (succeeded, failed, further) in sorted(progress.items()):
        await session.execute(
            update(BackfillRow)
            .where(BackfillRow.id == backfill_id)
            .values(
                runs_succeeded=BackfillRow.runs_succeeded + succeeded,
                runs_failed=BackfillRow.runs_failed + failed,
                events_queued=BackfillRow.events_queued + further,
                events_total=BackfillRow.events_total + further,
            )
        )
    await complete(session, list(progress), now)


async def complete(session: AsyncSession, backfills: Sequence[UUID], now: datetime) -> None:
    """Complete backfills whose events were all read and whose runs have all finished."""
    ended = BackfillRow.runs_succeeded + BackfillRow.runs_failed >= BackfillRow.events_queued
    await session.execute(
        update(BackfillRow)
        .where(BackfillRow.id.in_(backfills), BackfillRow.all_read, ended)
        .where(BackfillRow.status.in_(OPEN))
        .values(status=COMPLETED, finished_at=now)
    )
