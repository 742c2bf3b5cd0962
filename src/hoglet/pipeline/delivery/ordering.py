"""Runs in order: those of one function for one distinct id, one after another.

A run of an ordered function stands in the line of its distinct id. The first of a line is a job
like any other, so it waits, is tried again and survives a kill as they do. When it ended, whether
well or not, the transaction that ends it puts the next one into the queue. So no two runs of a line
are ever in the queue together.

Source: issue "ordering option per distinct id"; docs/adr/0009-delivery.md.
"""

from collections.abc import Iterable, Sequence
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.jobs import INVOKE_QUEUE, LINE_PREFIX
from hoglet.pipeline.tables import OrderedRunRow
from hoglet.queue import Job, NewJob, Priority, Queue

_IDS_PER_STATEMENT = 500


async def enqueue(session: AsyncSession, queue: Queue, jobs: Sequence[NewJob]) -> None:
    """Enqueue runs; those with the name of a line as ``ordering_key`` stand in it.

    Idempotency: a run that stands in its line already is not added again.
    """
    ordered = [job for job in jobs if _line(job.ordering_key) and job.id is not None]
    others = [job for job in jobs if not (_line(job.ordering_key) and job.id is not None)]
    await queue.enqueue(session, others)
    if not ordered:
        return
    await _lock(session)
    lines = {job.ordering_key or "" for job in ordered}
    moving = await _first_places(session, lines)
    insert = sqlite_insert if _is_sqlite(session) else postgresql_insert
    connection = await session.connection()
    statement = insert(OrderedRunRow).on_conflict_do_nothing(index_elements=["invocation_id"])
    await connection.execute(statement, [_row(job) for job in ordered])
    await _start(session, queue, lines - moving.keys())


async def advance(session: AsyncSession, queue: Queue, ended: Iterable[Job]) -> None:
    """Let the next of each line go, in the transaction that ends the runs before."""
    of_lines = [job for job in ended if _line(job.ordering_key)]
    if not of_lines:
        return
    await _lock(session)
    ids = [job.id for job in of_lines]
    await session.execute(delete(OrderedRunRow).where(OrderedRunRow.invocation_id.in_(ids)))
    await _start(session, queue, {job.ordering_key or "" for job in of_lines})


async def discard(session: AsyncSession, queue: Queue, lane: str) -> None:
    """Remove the runs of a lane that nobody holds, whether they stand in a line or not."""
    await queue.discard(session, INVOKE_QUEUE, lane)
    await session.execute(delete(OrderedRunRow).where(OrderedRunRow.lane == lane))


async def withdraw(
    session: AsyncSession, queue: Queue, invocation_ids: Iterable[UUID], lines: Iterable[str]
) -> None:
    """Take runs out of their lines; ``lines`` are those whose first run left the queue."""
    await _lock(session)
    ids = list(invocation_ids)
    for start in range(0, len(ids), _IDS_PER_STATEMENT):
        part = ids[start : start + _IDS_PER_STATEMENT]
        await session.execute(delete(OrderedRunRow).where(OrderedRunRow.invocation_id.in_(part)))
    await _start(session, queue, lines)


async def _start(session: AsyncSession, queue: Queue, lines: Iterable[str]) -> None:
    places = list((await _first_places(session, lines)).values())
    for start in range(0, len(places), _IDS_PER_STATEMENT):
        part = places[start : start + _IDS_PER_STATEMENT]
        rows = await session.scalars(select(OrderedRunRow).where(OrderedRunRow.place.in_(part)))
        await queue.enqueue(session, [_job(row) for row in rows])


async def _first_places(session: AsyncSession, lines: Iterable[str]) -> dict[str, int]:
    wanted, found = list(lines), dict[str, int]()
    for start in range(0, len(wanted), _IDS_PER_STATEMENT):
        part = wanted[start : start + _IDS_PER_STATEMENT]
        statement = (
            select(OrderedRunRow.line, func.min(OrderedRunRow.place))
            .where(OrderedRunRow.line.in_(part))
            .group_by(OrderedRunRow.line)
        )
        for line, place in (await session.execute(statement)).all():
            found[line] = place
    return found


async def _lock(session: AsyncSession) -> None:
    """On PostgreSQL: nobody joins a line while another finds nobody in it to let go.

    SQLite has one writer anyway.
    """
    if not _is_sqlite(session):
        await session.execute(select(func.pg_advisory_xact_lock(func.hashtext("ordered_runs"))))


def _is_sqlite(session: AsyncSession) -> bool:
    return session.get_bind().dialect.name == "sqlite"


def _line(key: str | None) -> bool:
    return key is not None and key.startswith(LINE_PREFIX)


def _row(job: NewJob) -> dict[str, object]:
    return {
        "line": job.ordering_key,
        "invocation_id": job.id,
        "lane": job.lane,
        "priority": int(job.priority),
        "payload": job.payload,
    }


def _job(row: OrderedRunRow) -> NewJob:
    return NewJob(
        queue=INVOKE_QUEUE,
        payload=row.payload,
        id=row.invocation_id,
        priority=Priority(row.priority),
        ordering_key=row.line,
        lane=row.lane,
    )
