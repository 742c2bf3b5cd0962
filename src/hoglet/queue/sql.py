"""The queue in the metadata database; the same statements on SQLite and PostgreSQL.

PostgreSQL leases with ``FOR UPDATE SKIP LOCKED``; SQLite has only one writer. Leasing checks for
due jobs without a write transaction first, so that idle workers do not compete for SQLite's write
lock.

``run_at`` and ``leased_until`` are separate columns so that a job keeps its position when its lease
expires.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import batched
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, delete, event, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from hoglet.kit.clock import Clock, new_id
from hoglet.queue.consumers import Signals, of_light_keys, within_lanes, within_weight
from hoglet.queue.empty_queues import EmptyQueues, unfinished_queues
from hoglet.queue.owners import UNLEASED, owner_of_leases, release_leases
from hoglet.queue.port import Depth, Job, LaneLimit, LeaseLost, NewJob, Priority, Retry
from hoglet.queue.statements import JOBS, depth_of, lease_room, parameters_of, statements
from hoglet.queue.tables import JobRow
from hoglet.store.database import ChangeMark, Database, insert_into, insert_rows

_ROWS_PER_STATEMENT = 500  # `IN` lists: SQLite allows 32766 variables, small plans are reused
CLOCK_SKEW = timedelta(minutes=1)  # between the machines that share a database
_ROWS_AT_ONCE = 1000
_OVERFLOW_BYTES = 4096  # SQLite keeps a larger payload in pages of its own


class SqlQueue:
    """See :class:`hoglet.queue.port.Queue`.

    Args:
        database: database of the jobs.
        clock: decides what is due.
        owner: name of the process. If it is restarted under the same name, it releases its old
            leases with ``reclaim``; two live processes must not share a name.
        signals: wake-ups shared with other consumers of this process.
        empty: queues without jobs, shared likewise.
        number: distinguishes the consumers of the process.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        *,
        owner: str = "local",
        signals: Signals | None = None,
        empty: EmptyQueues | None = None,
        number: int = 0,
    ) -> None:
        self._database = database
        self._clock = clock
        self._process = owner
        self._owner = owner_of_leases(owner, number)
        self._signals = signals or Signals()
        self._empty = empty or EmptyQueues(database)
        self._statements = statements(is_sqlite=database.is_sqlite)
        self._lease_room = lease_room(self._owner) if database.is_sqlite else None
        self._busy: dict[str, bool] = {}
        self._empty_at: dict[str, ChangeMark] = {}

    def consumer(self, number: int) -> "SqlQueue":
        """A view of the queue for another consumer in this process; see the port."""
        return SqlQueue(
            self._database,
            self._clock,
            owner=self._process,
            signals=self._signals,
            empty=self._empty,
            number=number,
        )

    async def enqueue(self, session: AsyncSession, jobs: Sequence[NewJob]) -> None:
        """Add jobs in the caller's transaction; consumers are woken after it commits."""
        if not jobs:
            return
        now = self._clock.now()
        insert = insert_into(session, JobRow)
        statement = insert.on_conflict_do_nothing(index_elements=[JobRow.id])
        await insert_rows(session, statement, _rows_of(jobs, now, self._lease_room))
        self._wake_after_commit(session, {job.queue for job in jobs})

    async def lease(
        self,
        queue: str,
        *,
        limit: int,
        duration: timedelta,
        max_weight: int | None = None,
        max_bytes: int | None = None,
        without_lanes: Collection[str] = (),
        lane_limits: Mapping[str, LaneLimit] | None = None,
    ) -> list[Job]:
        """Lease up to ``limit`` due jobs, oldest first; see the port."""
        parameters = {**self._parameters(queue), "lanes": list(without_lanes)}
        if not await self._may_be_due(queue, parameters):
            return []
        async with self._database.write() as session:
            connection = await self._only_leaser(session, queue)
            due = self._statements.due[bool(without_lanes)]
            candidates = await _candidates(connection, due, parameters, limit)
            allowed = within_lanes(candidates, lane_limits or {})
            chosen = within_weight(allowed, max_weight, max_bytes)
            jobs = await self._take(connection, [row.id for row in chosen], duration)
        self._busy[queue] = len(candidates) == limit or len(chosen) < len(candidates)
        return jobs

    async def lease_group(
        self,
        queue: str,
        *,
        limit: int,
        duration: timedelta,
        max_weight: int,
        max_bytes: int | None = None,
        mixed_weight: int = 0,
    ) -> list[Job]:
        """Lease due jobs as a group that stays together; see the port."""
        parameters = {**self._parameters(queue), "lanes": []}
        if not await self._may_be_due(queue, parameters):
            return []
        async with self._database.write() as session:
            connection = await self._only_leaser(session, queue)
            most = limit if mixed_weight else 1
            oldest = await _candidates(connection, self._statements.due[False], parameters, most)
            first = next(iter(oldest), None)
            if first is None:
                jobs, is_busy = list[Job](), False
            elif first.group_id is not None:
                group = {**parameters, "group": first.group_id}
                members = (await connection.scalars(self._statements.members, group)).all()
                jobs = await self._take(connection, members, duration)
                is_busy = bool(jobs)
            else:
                candidates = of_light_keys(oldest, mixed_weight) if len(oldest) < limit else []
                if not candidates:  # also if more wait than fits: then each key has many
                    same = {**parameters, "ordering_key": first.ordering_key}
                    of_key = self._statements.due_of_key
                    candidates = await _candidates(connection, of_key, same, limit)
                chosen = [row.id for row in within_weight(candidates, max_weight, max_bytes)]
                jobs = await self._take(connection, chosen, duration, group=new_id())
                due = max(len(oldest), len(candidates))
                is_busy = due == limit or len(chosen) < due
        self._busy[queue] = is_busy
        return jobs

    def left_some(self, queue: str) -> bool:
        """Whether the last lease did not take all due jobs."""
        return self._busy.get(queue, False)

    async def extend(self, jobs: Sequence[Job], duration: timedelta) -> None:
        """Extend the leases of jobs to ``duration`` from now."""
        until = self._clock.now() + duration
        async with self._database.write() as session:
            for part in batched(jobs, _ROWS_PER_STATEMENT):
                await session.execute(update(JobRow).where(_held(part)).values(leased_until=until))

    async def finish(self, session: AsyncSession, jobs: Sequence[Job]) -> None:
        """Remove leased jobs in the caller's transaction."""
        connection = await session.connection()
        for part in batched(jobs, _ROWS_PER_STATEMENT):
            result = await connection.execute(delete(JOBS).where(_held(part)))
            _expect(result, len(part))

    async def retry(self, session: AsyncSession, job: Job, *, run_at: datetime) -> None:
        """Release a leased job, due at ``run_at``."""
        values: dict[str, Any] = {**UNLEASED, "run_at": run_at, "retries": JOBS.c.retries + 1}
        connection = await session.connection()
        result = await connection.execute(update(JOBS).where(_held([job])).values(**values))
        _expect(result, 1)
        self._wake_after_commit(session, {job.queue})

    async def retry_all(self, session: AsyncSession, retries: Sequence[Retry]) -> None:
        """Release leased jobs, each with a new payload; consumers are woken if any is due."""
        if not retries:
            return
        connection = await session.connection()
        rows = [parameters_of(each) for each in retries]
        _expect(await connection.execute(self._statements.retry, rows), len(rows))
        now = self._clock.now()
        self._wake_after_commit(session, {each.job.queue for each in retries if each.run_at <= now})

    async def dead_letter(self, session: AsyncSession, job: Job, reason: str) -> None:
        """Set a leased job aside as permanently failed."""
        values = {**UNLEASED, "buried_at": self._clock.now(), "error": reason}
        result = await session.execute(update(JobRow).where(_held([job])).values(**values))
        _expect(result, 1)

    async def requeue(self, session: AsyncSession, queue: str) -> int:
        """Make all dead-lettered jobs of a queue due again; returns how many."""
        failed_jobs = (JobRow.queue == queue) & JobRow.buried_at.is_not(None)
        values = {"buried_at": None, "error": None, "attempts": 0, "retries": 0}
        result = await session.execute(update(JobRow).where(failed_jobs).values(**values))
        self._wake_after_commit(session, {queue})
        return _count(result)

    async def discard(self, session: AsyncSession, queue: str, lane: str) -> int:
        """Delete the jobs of a lane that are not leased; returns how many."""
        unheld = JobRow.leased_until.is_(None) | (JobRow.leased_until <= self._clock.now())
        mine = (JobRow.queue == queue) & (JobRow.lane == lane)
        return _count(await session.execute(delete(JobRow).where(mine, unheld)))

    async def release(self, jobs: Sequence[Job]) -> None:
        """Release leased jobs unchanged."""
        async with self._database.write() as session:
            for part in batched(jobs, _ROWS_PER_STATEMENT):
                await session.execute(update(JobRow).where(_held(part)).values(**UNLEASED))
            self._wake_after_commit(session, {job.queue for job in jobs})

    async def undo_lease(self, jobs: Sequence[Job]) -> None:
        """Release jobs of a new group as if it had not been leased; see the port."""
        values = {**UNLEASED, "group_id": None, "attempts": JOBS.c.attempts - 1}
        async with self._database.write() as session:
            for part in batched(jobs, _ROWS_PER_STATEMENT):
                await session.execute(update(JobRow).where(_held(part)).values(**values))
            self._wake_after_commit(session, {job.queue for job in jobs})

    async def reclaim(self) -> int:
        """Release the jobs this owner and its consumers held before it was killed."""
        async with self._database.write() as session:
            return await release_leases(session, self._process)

    async def catch_up(self) -> int:
        """Reschedule jobs that were enqueued in the future, each with its original delay."""
        now = self._clock.now()
        ahead = (JobRow.run_at > now) & (JobRow.enqueued_at > now + CLOCK_SKEW)
        columns = select(JobRow.id, JobRow.queue, JobRow.run_at, JobRow.enqueued_at)
        async with self._database.read() as session:  # nearly always finds nothing
            rows = (await session.execute(columns.where(ahead))).all()
        for part in batched(rows, _ROWS_AT_ONCE):
            changes = [
                {"id": row.id, "run_at": row.run_at - (row.enqueued_at - now), "enqueued_at": now}
                for row in part
            ]
            async with self._database.write() as session:
                await session.execute(update(JobRow), changes)
                self._wake_after_commit(session, {row.queue for row in part})
        return len(rows)

    async def depth(self, queue: str) -> Depth:
        """Measure a queue."""
        now = self._clock.now()
        async with self._database.read() as session:
            counts = (await session.execute(depth_of(queue, now))).one()
        ready, delayed, leased, failed, oldest = counts
        lag = (now - oldest).total_seconds() if oldest else 0.0
        return Depth(
            ready=ready, delayed=delayed, leased=leased, failed=failed, lag_seconds=max(lag, 0.0)
        )

    async def unfinished(self, queues: Collection[str]) -> set[str]:
        """Those of the queues that have jobs which have not failed permanently."""
        return await unfinished_queues(self._database, queues)

    async def wait(self, queue: str, timeout: timedelta) -> None:  # noqa: ASYNC109 (a ceiling, not a cancellation)
        """Return when jobs were enqueued in this process, or after ``timeout``."""
        await self._signals.wait(queue, timeout.total_seconds())

    def wake(self, queue: str) -> None:
        """End the current ``wait`` calls for a queue."""
        self._signals.wake(queue)

    def _wake_after_commit(self, session: AsyncSession, queues: set[str]) -> None:
        def wake(_session: object) -> None:
            for queue in queues:
                if not self._database.is_sqlite:
                    self._empty.fill(queue)
                self._signals.wake(queue)

        event.listen(session.sync_session, "after_commit", wake, once=True)

    def _parameters(self, queue: str) -> dict[str, Any]:
        return {"queue": queue, "owner": self._owner, "now": self._clock.now()}

    async def _only_leaser(self, session: AsyncSession, queue: str) -> AsyncConnection:
        """On PostgreSQL, keep two owners from leasing jobs with the same ordering key at once."""
        connection = await session.connection()
        if not self._database.is_sqlite:
            await connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(queue))))
        return connection

    async def _may_be_due(self, queue: str, parameters: dict[str, Any]) -> bool:
        """Cheap pre-check; skipped after a lease that did not take all it could.

        A queue that was empty stays empty until something is committed.
        """
        if self._busy.get(queue):
            return True
        mark = self._database.change_mark()
        if mark is not None and self._empty_at.get(queue) == mark:
            return False
        if not self._database.is_sqlite and await self._empty.contain(queue):
            return False
        async with self._database.read() as session:
            connection = await session.connection()
            statement = self._statements.anything_due[bool(parameters["lanes"])]
            is_due = bool(await connection.scalar(statement, {**parameters, "most": 1}))
            if is_due or mark is None:
                return is_due
            if await connection.scalar(self._statements.unfinished, {"queue": queue}) is None:
                self._empty_at[queue] = mark
            return False

    async def _take(
        self,
        connection: AsyncConnection,
        ids: Sequence[UUID],
        duration: timedelta,
        *,
        group: UUID | None = None,
    ) -> list[Job]:
        values: dict[str, Any] = {
            "new_lease": new_id(),
            "until": self._clock.now() + duration,
            "owner": self._owner,
        }
        statement = self._statements.take
        if group is not None:
            statement, values["new_group"] = self._statements.take_as_group, group
        rows = list[Row[Any]]()
        for part in batched(ids, _ROWS_PER_STATEMENT):
            taken = await connection.execute(statement, {**values, "ids": part})
            if group is not None:
                taken = await connection.execute(self._statements.taken, {"ids": part})
            rows.extend(taken.all())
        return sorted(map(_job_of, rows), key=lambda job: (job.priority, job.run_at, job.id))


def _rows_of(jobs: Sequence[NewJob], now: datetime, lease_room: str | None) -> list[dict[str, Any]]:
    """Rows to insert; jobs of one call get increasing microseconds to keep their order."""
    first = now - timedelta(microseconds=len(jobs) - 1)
    return [
        {
            "id": job.id or new_id(),
            "queue": job.queue,
            "priority": int(job.priority),
            "run_at": job.run_at or first + timedelta(microseconds=offset),
            "enqueued_at": now,
            "ordering_key": job.ordering_key,
            "weight": job.weight,
            "lane": job.lane,
            "attempts": 0,
            "retries": 0,
            "payload": job.payload,
            "buried_at": now if job.error is not None else None,
            "error": lease_room
            if job.error is None and len(job.payload) > _OVERFLOW_BYTES
            else job.error,
            "group_id": job.group,
        }
        for offset, job in enumerate(jobs)
    ]


async def _candidates(
    connection: AsyncConnection,
    statements: Sequence[Select[Any]],
    parameters: dict[str, Any],
    limit: int,
) -> list[Row[Any]]:
    """Due jobs as ``(id, weight, group_id, ordering_key, lane, size)``, by priority."""
    jobs = list[Row[Any]]()
    for statement in statements:
        parameters = {**parameters, "most": limit - len(jobs)}
        jobs.extend((await connection.execute(statement, parameters)).all())
        if len(jobs) >= limit:
            break
    return jobs


def _held(jobs: Sequence[Job]) -> ColumnElement[bool]:
    """The rows still leased by the leases of ``jobs``."""
    leases = {job.lease for job in jobs}
    return JobRow.id.in_([job.id for job in jobs]) & JobRow.lease.in_(leases)


def _expect(result: Any, expected: int) -> None:
    if _count(result) != expected:
        raise LeaseLost("A job was finished or leased by another worker in the meantime.")


def _count(result: Any) -> int:
    return int(result.rowcount)


def _job_of(row: Row[Any]) -> Job:
    fields: dict[str, Any] = dict(zip(Job.__struct_fields__, row, strict=True))
    fields["priority"] = Priority(fields["priority"])
    return Job(**fields)
