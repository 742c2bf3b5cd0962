"""The queue in the metadata database; the same statements on SQLite and PostgreSQL.

PostgreSQL leases with ``FOR UPDATE SKIP LOCKED``; SQLite has one writer anyway. Leasing first
looks without a write transaction, so that idle workers do not queue for SQLite's writer.

Why ``run_at`` and ``leased_until`` are apart: a lease that ran out keeps its place in the order.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, delete, event, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.kit.clock import Clock
from hoglet.kit.ids import new_id
from hoglet.queue.port import Depth, Job, LeaseLost, NewJob, Priority
from hoglet.queue.signals import Signals
from hoglet.queue.tables import JobRow
from hoglet.store.database import Database

_ROWS_PER_STATEMENT = 500  # `IN` lists: SQLite allows 32766 variables, small plans are reused


class SqlQueue:
    """See :class:`hoglet.queue.port.Queue`.

    Args:
        database: where the jobs live.
        clock: tells what is due.
        owner: name of this consumer. After a crash, a process that comes up under the same name
            gets its leases back by ``reclaim``; two live processes never share a name.
    """

    def __init__(self, database: Database, clock: Clock, *, owner: str = "local") -> None:
        self._database = database
        self._clock = clock
        self._owner = owner
        self._signals = Signals()

    async def enqueue(self, session: AsyncSession, jobs: Sequence[NewJob]) -> None:
        """Add jobs in the caller's transaction; consumers are woken after it commits."""
        if not jobs:
            return
        now = self._clock.now()
        insert = sqlite_insert if self._database.is_sqlite else postgresql_insert
        statement = insert(JobRow).on_conflict_do_nothing(index_elements=[JobRow.id])
        connection = await session.connection()
        await connection.execute(statement, _rows_of(jobs, now))
        self._wake_after_commit(session, {job.queue for job in jobs})

    async def lease(
        self,
        queue: str,
        *,
        limit: int,
        duration: timedelta,
        max_weight: int | None = None,
        without_lanes: Collection[str] = (),
    ) -> list[Job]:
        """Take up to ``limit`` due jobs, oldest first; see the port."""
        wanted = _outside(without_lanes)
        if not await self._anything_due(queue, *wanted):
            return []
        async with self._database.write() as session:
            await self._one_leaser_at_a_time(session, queue)
            found = await self._candidates(session, queue, limit, *wanted)
            chosen = _within_weight(found, max_weight)
            return await self._take(session, [row.id for row in chosen], duration)

    async def lease_group(
        self, queue: str, *, limit: int, duration: timedelta, max_weight: int
    ) -> list[Job]:
        """Take due jobs of one ordering key as a group that stays together; see the port."""
        if not await self._anything_due(queue):
            return []
        async with self._database.write() as session:
            await self._one_leaser_at_a_time(session, queue)
            first = next(iter(await self._candidates(session, queue, 1)), None)
            if first is None:
                return []
            if first.group_id is not None:
                return await self._take(session, await _members(session, first.group_id), duration)
            same_key = JobRow.ordering_key.is_not_distinct_from(first.ordering_key)
            ungrouped = JobRow.group_id.is_(None)
            found = await self._candidates(session, queue, limit, same_key, ungrouped)
            chosen = [row.id for row in _within_weight(found, max_weight)]
            return await self._take(session, chosen, duration, group=new_id())

    async def extend(self, jobs: Sequence[Job], duration: timedelta) -> None:
        """Hold leased jobs for ``duration`` from now."""
        until = self._clock.now() + duration
        async with self._database.write() as session:
            for part in _parts(jobs):
                await session.execute(update(JobRow).where(_held(part)).values(leased_until=until))

    async def finish(self, session: AsyncSession, jobs: Sequence[Job]) -> None:
        """Remove leased jobs in the caller's transaction."""
        for part in _parts(jobs):
            result = await session.execute(delete(JobRow).where(_held(part)))
            _expect(result, len(part))

    async def retry(
        self,
        session: AsyncSession,
        job: Job,
        *,
        run_at: datetime,
        payload: bytes | None = None,
        priority: Priority | None = None,
    ) -> None:
        """Give a leased job back, due at ``run_at``."""
        values: dict[str, Any] = {**_UNLEASED, "run_at": run_at, "retries": JobRow.retries + 1}
        if payload is not None:
            values["payload"] = payload
        if priority is not None:
            values["priority"] = int(priority)
        result = await session.execute(update(JobRow).where(_held([job])).values(**values))
        _expect(result, 1)
        self._wake_after_commit(session, {job.queue})

    async def bury(self, session: AsyncSession, job: Job, reason: str) -> None:
        """Keep a leased job but lease it no more."""
        values = {**_UNLEASED, "buried_at": self._clock.now(), "error": reason}
        result = await session.execute(update(JobRow).where(_held([job])).values(**values))
        _expect(result, 1)

    async def revive(self, session: AsyncSession, queue: str) -> int:
        """Make all buried jobs of a queue due again; returns how many."""
        buried = (JobRow.queue == queue) & JobRow.buried_at.is_not(None)
        values = {"buried_at": None, "error": None, "attempts": 0, "retries": 0}
        result = await session.execute(update(JobRow).where(buried).values(**values))
        self._wake_after_commit(session, {queue})
        return _count(result)

    async def release(self, jobs: Sequence[Job]) -> None:
        """Give leased jobs back unchanged."""
        async with self._database.write() as session:
            for part in _parts(jobs):
                await session.execute(update(JobRow).where(_held(part)).values(**_UNLEASED))
            self._wake_after_commit(session, {job.queue for job in jobs})

    async def reclaim(self) -> int:
        """Release whatever this owner name held before it was killed."""
        async with self._database.write() as session:
            mine = update(JobRow).where(JobRow.lease_owner == self._owner)
            return _count(await session.execute(mine.values(**_UNLEASED)))

    async def depth(self, queue: str) -> Depth:
        """Measure a queue."""
        now = self._clock.now()
        buried = JobRow.buried_at.is_not(None)
        leased = ~buried & (JobRow.leased_until > now)
        delayed = ~buried & ~func.coalesce(leased, False) & (JobRow.run_at > now)
        ready = _is_due(now)
        numbers = [func.count().filter(kind) for kind in (ready, delayed, leased, buried)]
        oldest = func.min(JobRow.run_at).filter(ready)
        statement = select(*numbers, oldest).where(JobRow.queue == queue)
        async with self._database.read() as session:
            row: tuple[Any, ...] = tuple((await session.execute(statement)).one())
        lag = (now - row[4]).total_seconds() if row[4] else 0.0
        return Depth(
            ready=row[0], delayed=row[1], leased=row[2], buried=row[3], lag_seconds=max(lag, 0.0)
        )

    async def wait(self, queue: str, timeout: timedelta) -> None:  # noqa: ASYNC109 (a ceiling, not a cancellation)
        """Return when jobs were enqueued in this process, or after ``timeout`` at the latest."""
        await self._signals.wait(queue, timeout.total_seconds())

    def wake(self, queue: str) -> None:
        """End the present ``wait`` calls for a queue."""
        self._signals.wake(queue)

    def _wake_after_commit(self, session: AsyncSession, queues: set[str]) -> None:
        def wake(_session: object) -> None:
            for queue in queues:
                self._signals.wake(queue)

        event.listen(session.sync_session, "after_commit", wake, once=True)

    async def _one_leaser_at_a_time(self, session: AsyncSession, queue: str) -> None:
        """On PostgreSQL two owners might else lease two jobs of one ordering key at once."""
        if not self._database.is_sqlite:
            await session.execute(select(func.pg_advisory_xact_lock(func.hashtext(queue))))

    async def _anything_due(self, queue: str, *conditions: ColumnElement[bool]) -> bool:
        due = [self._due(queue, priority).where(*conditions).exists() for priority in Priority]
        async with self._database.read() as session:
            return bool(await session.scalar(select(or_(*due))))

    async def _candidates(
        self,
        session: AsyncSession,
        queue: str,
        limit: int,
        *conditions: ColumnElement[bool],
    ) -> list[Row[Any]]:
        """Due jobs as ``(id, weight, group_id, ordering_key)``, priority by priority.

        One statement a priority: each is then a plain range of the index, however many retries
        are delayed.
        """
        found: list[Row[Any]] = []
        for priority in Priority:
            statement = self._due(queue, priority).where(*conditions).limit(limit - len(found))
            if not self._database.is_sqlite:
                statement = statement.with_for_update(skip_locked=True)
            found.extend((await session.execute(statement)).all())
            if len(found) >= limit:
                break
        return found

    def _due(self, queue: str, priority: Priority) -> Select[*tuple[Any, ...]]:
        now = self._clock.now()
        other = select(JobRow.ordering_key).where(
            JobRow.queue == queue,
            JobRow.leased_until > now,
            JobRow.lease_owner != self._owner,
            JobRow.ordering_key.is_not(None),
        )
        free_key = JobRow.ordering_key.is_(None) | JobRow.ordering_key.not_in(other)
        return (
            select(JobRow.id, JobRow.weight, JobRow.group_id, JobRow.ordering_key)
            .where(JobRow.queue == queue, JobRow.priority == int(priority), _is_due(now), free_key)
            .order_by(JobRow.run_at, JobRow.id)
        )

    async def _take(
        self,
        session: AsyncSession,
        ids: Sequence[UUID],
        duration: timedelta,
        *,
        group: UUID | None = None,
    ) -> list[Job]:
        values: dict[str, Any] = {
            "lease": new_id(),
            "leased_until": self._clock.now() + duration,
            "lease_owner": self._owner,
            "attempts": JobRow.attempts + 1,
        }
        if group is not None:
            values["group_id"] = group
        rows: list[JobRow] = []
        for part in _parts(ids):
            statement = update(JobRow).where(JobRow.id.in_(part)).values(**values)
            rows.extend((await session.scalars(statement.returning(JobRow))).all())
        return sorted(map(_job_of, rows), key=lambda job: (job.priority, job.run_at, job.id))


async def _members(session: AsyncSession, group: UUID) -> list[UUID]:
    members = select(JobRow.id).where(JobRow.group_id == group)
    return list((await session.scalars(members.order_by(JobRow.run_at, JobRow.id))).all())


_UNLEASED: dict[str, Any] = {"leased_until": None, "lease": None, "lease_owner": None}


def _outside(lanes: Collection[str]) -> list[ColumnElement[bool]]:
    return [JobRow.lane.is_(None) | JobRow.lane.not_in(list(lanes))] if lanes else []


def _is_due(now: datetime) -> ColumnElement[bool]:
    unleased = JobRow.leased_until.is_(None) | (JobRow.leased_until <= now)
    return (JobRow.run_at <= now) & unleased & JobRow.buried_at.is_(None)


def _held(jobs: Sequence[Job]) -> ColumnElement[bool]:
    """The rows still held under the leases of ``jobs``."""
    leases = {job.lease for job in jobs}
    return JobRow.id.in_([job.id for job in jobs]) & JobRow.lease.in_(leases)


def _expect(result: Any, wanted: int) -> None:
    if _count(result) != wanted:
        raise LeaseLost("A job was finished or leased by another worker meanwhile.")


def _count(result: Any) -> int:
    return int(result.rowcount)


def _parts[T](items: Sequence[T]) -> list[Sequence[T]]:
    step = _ROWS_PER_STATEMENT
    return [items[start : start + step] for start in range(0, len(items), step)]


def _within_weight(rows: list[Row[Any]], max_weight: int | None) -> list[Row[Any]]:
    if max_weight is None:
        return rows
    chosen: list[Row[Any]] = []
    total = 0
    for row in rows:
        total += row.weight
        if chosen and total > max_weight:
            break
        chosen.append(row)
    return chosen


def _rows_of(jobs: Sequence[NewJob], now: datetime) -> list[dict[str, Any]]:
    """Rows to insert; jobs of one call stay in order by a microsecond between them."""
    first = now - timedelta(microseconds=len(jobs) - 1)
    return [
        {
            "id": job.id or new_id(),
            "queue": job.queue,
            "priority": int(job.priority),
            "run_at": job.run_at or first + timedelta(microseconds=place),
            "enqueued_at": now,
            "ordering_key": job.ordering_key,
            "weight": job.weight,
            "lane": job.lane,
            "attempts": 0,
            "retries": 0,
            "payload": job.payload,
        }
        for place, job in enumerate(jobs)
    ]


def _job_of(row: JobRow) -> Job:
    if row.lease is None:  # just set by the statement that returned the row
        raise LeaseLost("A job was returned without its lease.")
    return Job(
        id=row.id,
        queue=row.queue,
        payload=row.payload,
        attempt=row.attempts,
        retries=row.retries,
        priority=Priority(row.priority),
        ordering_key=row.ordering_key,
        weight=row.weight,
        lane=row.lane,
        run_at=row.run_at,
        enqueued_at=row.enqueued_at,
        lease=row.lease,
        group=row.group_id,
    )
