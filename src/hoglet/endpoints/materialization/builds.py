"""The history of table builds: when each ran, and how it ended.

A build has the id of its schedule, so a build that is retried after a crash remains one row.

Source: docs/spec/query-endpoints.md#78-builds.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.endpoints.tables import BuildRow, EndpointVersionRow

KEPT_FOR = timedelta(days=30)
RUNNING = "Running"
SUPERSEDED = "Another build was scheduled in the meantime."


class Outcome(NamedTuple):
    """How a build ended; ``is_unchanged`` if the earlier table was still up to date."""

    status: str
    error: str = ""
    is_unchanged: bool = False


async def begin_build(
    session: AsyncSession, schedule: UUID, version: EndpointVersionRow, now: datetime
) -> None:
    """Record the start, or restart, of a build."""
    row = await session.get(BuildRow, schedule)
    if row is None:
        row = BuildRow(id=schedule, endpoint_id=version.endpoint_id, version=version.number)
        session.add(row)
    row.status, row.error, row.is_unchanged = RUNNING, "", False
    row.started_at, row.ended_at = now, None


async def end_build(session: AsyncSession, schedule: UUID, outcome: Outcome, now: datetime) -> None:
    """Record how a build ended."""
    row = await session.get(BuildRow, schedule)
    if row is not None:
        row.status, row.error, row.is_unchanged = outcome
        row.ended_at = now


async def cancel_build(session: AsyncSession, schedule: UUID, now: datetime) -> None:
    """End a build whose schedule is no longer current, unless another server has ended it."""
    row = await session.get(BuildRow, schedule)
    if row is not None and row.ended_at is None:
        await end_build(session, schedule, Outcome("Cancelled", SUPERSEDED), now)


async def count_builds(session: AsyncSession, endpoint_id: UUID, version: int | None) -> int:
    """Number of builds of an endpoint, or of one version."""
    statement = select(func.count()).select_from(BuildRow).where(*_of(endpoint_id, version))
    return await session.scalar(statement) or 0


async def list_builds(
    session: AsyncSession, endpoint_id: UUID, version: int | None, *, limit: int, offset: int
) -> Sequence[BuildRow]:
    """Builds of an endpoint, or of one version, newest first."""
    statement = (
        select(BuildRow)
        .where(*_of(endpoint_id, version))
        .order_by(BuildRow.started_at.desc(), BuildRow.id.desc())
        .limit(limit)
        .offset(offset)
    )
    return (await session.scalars(statement)).all()


async def delete_old_builds(session: AsyncSession, now: datetime) -> None:
    """Delete the rows of builds that started long ago."""
    await session.execute(delete(BuildRow).where(BuildRow.started_at < now - KEPT_FOR))


def _of(endpoint_id: UUID, version: int | None) -> list[ColumnElement[bool]]:
    conditions = [BuildRow.endpoint_id == endpoint_id]
    return conditions if version is None else [*conditions, BuildRow.version == version]
