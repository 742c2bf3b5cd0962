"""Statements on dead letters."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Select, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import defer

from hoglet.functions.tables import DeadLetterRow

REDRIVE_CHUNK = 500  # ids per statement; SQLite allows 32,766 parameters
WHOLE_CHUNK = 20  # rows read with their globals, which may be megabytes each


class DeadLetterFilter(NamedTuple):
    """Selects dead letters; None and empty mean no restriction."""

    classes: Sequence[str] = ()
    after: datetime | None = None
    before: datetime | None = None
    redriven: bool | None = None
    ids: Sequence[UUID] | None = None


class DeadLetterKey(NamedTuple):
    """A dead letter without its globals; sorts by the time of its first failure."""

    first_failed_at: datetime
    id: UUID
    redriven_at: datetime | None


async def find(
    session: AsyncSession, function_id: UUID, dead_letter_id: UUID
) -> DeadLetterRow | None:
    """A dead letter of a function."""
    return await session.scalar(
        select(DeadLetterRow).where(
            DeadLetterRow.id == dead_letter_id, DeadLetterRow.function_id == function_id
        )
    )


async def find_by_invocation(
    session: AsyncSession, function_id: UUID, invocation_id: UUID
) -> DeadLetterRow | None:
    """The dead letter of a run, so that a failed redrive updates it instead of adding one."""
    return await session.scalar(
        select(DeadLetterRow).where(
            DeadLetterRow.invocation_id == invocation_id, DeadLetterRow.function_id == function_id
        )
    )


async def count(session: AsyncSession, function_id: UUID, filters: DeadLetterFilter) -> int:
    """Number of dead letters that match the filter."""
    statement = select(func.count()).select_from(DeadLetterRow)
    return await session.scalar(_matching(statement, function_id, filters)) or 0


async def count_waiting(session: AsyncSession) -> int:
    """Number of dead letters of all functions that have not been redriven."""
    waiting = DeadLetterRow.redriven_at.is_(None)
    statement = select(func.count()).select_from(DeadLetterRow).where(waiting)
    return await session.scalar(statement) or 0


async def page(
    session: AsyncSession,
    function_id: UUID,
    filters: DeadLetterFilter,
    *,
    limit: int | None,
    offset: int,
) -> list[DeadLetterRow]:
    """A page of dead letters, newest first; their globals are not read."""
    listed = select(DeadLetterRow).options(defer(DeadLetterRow.globals, raiseload=True))
    statement = _matching(listed, function_id, filters).order_by(
        DeadLetterRow.last_failed_at.desc(), DeadLetterRow.id.desc()
    )
    return list(await session.scalars(statement.limit(limit).offset(offset)))


async def list_keys(
    session: AsyncSession, function_id: UUID, filters: DeadLetterFilter
) -> list[DeadLetterKey]:
    """All dead letters that match the filter, in no particular order."""
    columns = select(DeadLetterRow.first_failed_at, DeadLetterRow.id, DeadLetterRow.redriven_at)
    rows = await session.execute(_matching(columns, function_id, filters))
    return [DeadLetterKey(*row) for row in rows]


async def read_whole(session: AsyncSession, ids: Sequence[UUID]) -> dict[UUID, DeadLetterRow]:
    """Dead letters with their globals, by id; locked until the transaction ends."""
    statement = select(DeadLetterRow).where(DeadLetterRow.id.in_(ids))
    statement = statement.order_by(DeadLetterRow.id).with_for_update()
    return {row.id: row for row in await session.scalars(statement)}


async def drop_oldest(session: AsyncSession, function_id: UUID, *, keep: int) -> int:
    """Delete all but the newest ``keep`` dead letters; returns how many."""
    over = await count(session, function_id, DeadLetterFilter()) - keep
    if over <= 0:
        return 0
    oldest = (
        select(DeadLetterRow.id)
        .where(DeadLetterRow.function_id == function_id)
        .order_by(DeadLetterRow.last_failed_at, DeadLetterRow.id)
        .limit(over)
    )
    await session.execute(delete(DeadLetterRow).where(DeadLetterRow.id.in_(oldest)))
    return over


async def drop_before(session: AsyncSession, instant: datetime) -> int:
    """Delete dead letters that last failed before a time; returns how many."""
    statement = delete(DeadLetterRow).where(DeadLetterRow.last_failed_at < instant)
    result: Any = await session.execute(statement)
    return result.rowcount


def _matching[*T](
    statement: Select[*T], function_id: UUID, filters: DeadLetterFilter
) -> Select[*T]:
    statement = statement.where(DeadLetterRow.function_id == function_id)
    if filters.classes:
        statement = statement.where(DeadLetterRow.error_class.in_(filters.classes))
    if filters.after is not None:
        statement = statement.where(DeadLetterRow.last_failed_at > filters.after)
    if filters.before is not None:
        statement = statement.where(DeadLetterRow.last_failed_at < filters.before)
    if filters.redriven is not None:
        is_set = DeadLetterRow.redriven_at.is_not(None)
        statement = statement.where(is_set if filters.redriven else ~is_set)
    if filters.ids is not None:
        statement = statement.where(DeadLetterRow.id.in_(filters.ids))
    return statement
