"""Sources of groups for the batch worker: jobs of the queue, or partitions of the log."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import NamedTuple, Protocol
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.events.spool import SPOOL_QUEUE, SpooledV1, read_spooled
from hoglet.kit.clock import Clock
from hoglet.pipeline.ingest.ipc import Part
from hoglet.queue import Job, Queue
from hoglet.queue.consumers import LEASE, keep_leases
from hoglet.store.database import Database


class GroupLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Maximum size of a group, and how often small ones may begin.

    A single batch that exceeds the size is a group by itself.

    Attributes:
        size: bytes of the spooled requests. A worker needed up to 65 bytes of memory per byte that
            it processes (30 small properties per event, ten matching functions) and 28 per byte
            that it reads ahead (small objects in lists): 4 MiB stay below 400 MiB of its 1 GiB.
        events: limits the cost of many small events, which is more than that of their bytes.
        batches: number of jobs; entries of the log are limited by their events instead.
        small: groups of fewer events gather more while requests come faster than groups are stored:
            an insert and a commit take as long as 200 events (15 ms of processor time). So many
            events of several projects can be a group.
        gather_seconds: for how long.
    """

    size: int = 4 * 1024 * 1024
    events: int = 8000
    batches: int = 200
    small: int = 500
    gather_seconds: float = 0.1


class ProjectParts(NamedTuple):
    """The batches of a project in a group, oldest first."""

    project_id: int
    parts: list[Part]


class SpooledGroup(Protocol):
    """Batches that are stored together; every attempt has the same members."""

    @property
    def id(self) -> UUID:
        """The group's id, the same on every attempt: blocks in the warehouse are named after it."""
        ...

    @property
    def projects(self) -> list[ProjectParts]:
        """The batches by project; several projects only if they have few events."""
        ...

    @property
    def events(self) -> int:
        """Number of events in the batches."""
        ...

    @property
    def jobs(self) -> int:
        """Number of leased jobs; 0 for entries of the log, whose number has no limit."""
        ...

    @property
    def leaves_some(self) -> bool:
        """Whether its source had more for the time being."""
        ...

    @property
    def is_new(self) -> bool:
        """Whether nothing of it can be in the warehouse yet."""
        ...

    @property
    def is_divisible(self) -> bool:
        """Whether it is new and has several projects, which may still form other groups."""
        ...

    @property
    def retries(self) -> int:
        """How often the group was postponed."""
        ...

    def held(self) -> AbstractAsyncContextManager[None]:
        """Keep other workers from taking the group within this context."""
        ...

    async def finish(self, session: AsyncSession) -> None:
        """Remove the group from the spool, in the caller's transaction.

        Raises:
            LeaseLost, OwnershipLost: another worker has the group now.
        """
        ...

    async def ended(self) -> None:
        """Call this after the transaction of :meth:`finish` was committed."""
        ...

    async def release(self) -> None:
        """Release the group, so that any worker can start it again."""
        ...

    async def undo(self) -> None:
        """Release the batches of a divisible group: they may form other groups."""
        ...

    async def postpone(self, pause: timedelta) -> None:
        """Retry a failed group later, behind other groups.

        Raises:
            LeaseLost, OwnershipLost: another worker has the group now.
        """
        ...

    async def postpone_project(self, project_id: int, pause: timedelta) -> None:
        """Release a divisible group in which one project fails, so that it delays no other.

        Raises:
            LeaseLost, OwnershipLost: another worker has the group now.
        """
        ...


def is_large(group: SpooledGroup, limits: GroupLimits) -> bool:
    """Whether a group has at least half of a limit, so that more is probably waiting."""
    size = sum(len(part.body) for project in group.projects for part in project.parts)
    return (
        group.events >= limits.events / 2
        or size >= limits.size / 2
        or group.jobs >= limits.batches / 2
    )


class GroupSource(Protocol):
    """Provides groups to workers, each group to one worker at a time."""

    async def begin(self, limits: GroupLimits) -> SpooledGroup | None:
        """Start the next group; None if there is none."""
        ...

    async def wait(self, timeout: timedelta) -> None:  # noqa: ASYNC109 (a ceiling, not a cancellation)
        """Return when a request was spooled, or after ``timeout``."""
        ...

    def wake(self) -> None:
        """End the current waits."""
        ...


def part_of(spooled: SpooledV1, spooled_id: UUID) -> Part:
    """A batch in the form that the worker process expects."""
    return Part(
        spooled_id,
        spooled.body,
        spooled.received_at,
        spooled.ip,
        spooled.sent_at,
        trace=spooled.trace,
    )


class JobSource:
    """Groups made of queued jobs.

    On PostgreSQL a new group has one project; what failed as a group of the log may have several.

    Args:
        queue: a consumer used by one worker only, see :meth:`Queue.consumer`.
    """

    def __init__(self, queue: Queue, database: Database, clock: Clock) -> None:
        self._queue = queue
        self._database = database
        self._clock = clock

    async def begin(self, limits: GroupLimits) -> SpooledGroup | None:
        """Lease a group."""
        jobs = await self._queue.lease_group(
            SPOOL_QUEUE,
            limit=limits.batches,
            duration=LEASE,
            max_weight=limits.events,
            max_bytes=limits.size,
            mixed_weight=limits.small if self._database.is_sqlite else 0,
        )
        return JobGroup(self._queue, self._database, self._clock, jobs) if jobs else None

    async def wait(self, timeout: timedelta) -> None:  # noqa: ASYNC109 (a ceiling, not a cancellation)
        """Return when jobs were enqueued, or after ``timeout``."""
        await self._queue.wait(SPOOL_QUEUE, timeout)

    def wake(self) -> None:
        """End the current wait."""
        self._queue.wake(SPOOL_QUEUE)


class JobGroup:
    """Leased jobs; see :class:`SpooledGroup`."""

    def __init__(self, queue: Queue, database: Database, clock: Clock, jobs: Sequence[Job]) -> None:
        self._queue = queue
        self._database = database
        self._clock = clock
        self._jobs = jobs
        self._jobs_of: dict[int, list[Job]] = {}
        parts: dict[int, list[Part]] = {}
        for job in jobs:
            batch = read_spooled(job.payload)
            self._jobs_of.setdefault(batch.project_id, []).append(job)
            parts.setdefault(batch.project_id, []).append(part_of(batch, job.id))
        self.id = jobs[0].group or jobs[0].id
        self.projects = [ProjectParts(*each) for each in parts.items()]
        self.events = sum(job.weight for job in jobs)
        self.jobs = len(jobs)
        self.leaves_some = queue.left_some(SPOOL_QUEUE)
        # Jobs with a lane were entries of the log, whose source may have tried them.
        self.is_new = all(job.attempt == 1 and job.lane is None for job in jobs)
        self.is_divisible = database.is_sqlite and self.is_new and len(parts) > 1
        self.retries = jobs[0].retries

    def held(self) -> AbstractAsyncContextManager[None]:
        """Extend the leases until the block ends."""
        return keep_leases(self._queue, self._jobs)

    async def finish(self, session: AsyncSession) -> None:
        """Delete the jobs."""
        await self._queue.finish(session, self._jobs)

    async def ended(self) -> None:
        """Do nothing: the jobs are deleted already."""

    async def release(self) -> None:
        """Release the leases."""
        await self._queue.release(self._jobs)

    async def undo(self) -> None:
        """Undo the leases."""
        await self._queue.undo_lease(self._jobs)

    async def postpone(self, pause: timedelta) -> None:
        """Make the jobs due later."""
        await self._retry(self._jobs, pause)

    async def postpone_project(self, project_id: int, pause: timedelta) -> None:
        """Make the jobs of a project due later, as a group of their own."""
        await self._retry(self._jobs_of[project_id], pause)
        others = [job for job in self._jobs if job not in self._jobs_of[project_id]]
        await self._queue.undo_lease(others)

    async def _retry(self, jobs: Sequence[Job], pause: timedelta) -> None:
        async with self._database.write() as session:
            for job in jobs:
                await self._queue.retry(session, job, run_at=self._clock.now() + pause)
