"""Queries for operators on jobs that failed permanently."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.queue.tables import JobRow

_MOST = 1000


async def count_failed(session: AsyncSession) -> dict[str, int]:
    """Number of dead-lettered jobs by queue: ``{"spool": 1}``; queues without any are omitted."""
    failed = select(JobRow.queue, func.count()).where(JobRow.buried_at.is_not(None))
    rows = await session.execute(failed.group_by(JobRow.queue))
    return dict(rows.all())


async def failed_jobs(session: AsyncSession) -> Sequence[JobRow]:
    """The most recently dead-lettered jobs, newest first."""
    failed = select(JobRow).where(JobRow.buried_at.is_not(None))
    return list(await session.scalars(failed.order_by(JobRow.buried_at.desc()).limit(_MOST)))
