"""Ordered delivery: a function's runs for one distinct id execute one after another.

Runs of an ordered function line up by ordering key (function and distinct id). Only the first one
is in the queue, as an ordinary job with retries and leases. The transaction that ends it,
successfully or not, enqueues the next one, so the queue never holds two runs with the same key.

Source: docs/adr/0009-delivery.md.
"""

from collections.abc import Iterable, Sequence
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.jobs import INVOKE_QUEUE, LINE_PREFIX
from hoglet.pipeline.tables import OrderedRunRow
from hoglet.queue import Job, NewJob, Priority, Queue
from hoglet.store.database import insert_into, insert_rows

_IDS_PER_STATEMENT = 500


async def enqueue(session: AsyncSession, queue: Queue, jobs: Sequence[NewJob]) -> None:
    """Enqueue runs; those of ordered functions wait until it is their turn.

    Idempotency: a waiting run is not added again.
    """
    ordered = [job for job in jobs if _line(job.ordering_key) and job.id is not None]
    others = [job for job in jobs if not (_line(job.ordering_key) and job.id is not None)]
    await queue.enqueue(session, others)
    if not ordered:
        return
    await _lock(session)
    lines = {job.ordering_key or "" for job in ordered}
    moving = await _first_sequences(session, lines)
    insert = insert_into(session, OrderedRunRow)
    statement = insert.on_conflict_do_nothing(index_elements=["invocation_id"])
    await insert_rows(session, statement, [_row(job) for job in ordered])
    await _start(session, queue, lines - moving.keys())


async def advance(session: AsyncSession, queue: Queue, ended: Iterable[Job]) -> None:
    """Enqueue the next run of each key, in the transaction that ends the previous ones."""
    of_lines = [job for job in ended if _line(job.ordering_key)]
    if not of_lines:
        return
    await _lock(session)
    ids = [job.id for job in of_lines]
    await session.execute(delete(OrderedRunRow).where(OrderedRunRow.invocation_id.in_(ids)))
    await _start(session, queue, {job.ordering_key or "" for job in of_lines})


async def discard(session: AsyncSession, queue: Queue, lane: str) -> None:
    """Remove the runs of a lane, both waiting and queued, except leased ones."""
    await queue.discard(session, INVOKE_QUEUE, lane)
    await session.execute(delete(OrderedRunRow).where(OrderedRunRow.lane == lane))


async def withdraw(
    session: AsyncSession, queue: Queue, invocation_ids: Iterable[UUID], lines: Iterable[str]
) -> None:
    """Remove waiting runs; ``lines`` are the ordering keys whose first run was removed."""
    await _lock(session)
    ids = list(invocation_ids)
    for start in range(0, len(ids), _IDS_PER_STATEMENT):
        part = ids[start : start + _IDS_PER_STATEMENT]
        await session.execute(delete(OrderedRunRow).where(OrderedRunRow.invocation_id.in_(part)))
    await _start(session, queue, lines)


async def _start(session: AsyncSession, queue: Queue, lines: Iterable[str]) -> None:
    sequences = list((await _first_sequences(session, lines)).values())
    for start in range(0, len(sequences), _IDS_PER_STATEMENT):
        part = sequences[start : start + _IDS_PER_STATEMENT]
        rows = await session.scalars(select(OrderedRunRow).where(OrderedRunRow.sequence.in_(part)))
        await queue.enqueue(session, [_job(row) for row in rows])


async def _first_sequences(session: AsyncSession, lines: Iterable[str]) -> dict[str, int]:
    keys, first = list(lines), dict[str, int]()
    for start in range(0, len(keys), _IDS_PER_STATEMENT):
        part = keys[start : start + _IDS_PER_STATEMENT]
        statement = (
            select(OrderedRunRow.line, func.min(OrderedRunRow.sequence))
            .where(OrderedRunRow.line.in_(part))
            .group_by(OrderedRunRow.line)
        )
        for line, sequence in (await session.execute(statement)).all():
            first[line] = sequence
    return first


async def _lock(session: AsyncSession) -> None:
    """On PostgreSQL, serialize the transactions that add or advance ordered runs.

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
