"""What a queue promises. One contract suite (tests/contract/ports) runs on every implementation.

A job is enqueued inside the transaction of whatever it follows from, so that neither exists
without the other. It is delivered at least once: whoever leases it holds it until the lease ends,
and finishes it in the transaction that records its effects. Every job must be able to run twice.

Source: ARCHITECTURE.md; the idea of enqueuing in the caller's transaction is
procrastinate's.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Protocol
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.kit.errors import HogletError


class Priority(IntEnum):
    """Lower values are leased first; within one priority the oldest ``run_at`` goes first."""

    URGENT = 0
    NORMAL = 1
    # degraded functions: docs/spec/hog-functions.md#7-status-and-the-watcher
    LOW = 2


class LeaseLost(HogletError):
    """The lease ran out and somebody else may hold the job; give up what was being recorded."""

    code = "lease_lost"
    retry = "later"


class NewJob(msgspec.Struct, frozen=True, kw_only=True):
    """Work to enqueue.

    Args:
        queue: name of the queue, ``"invocations"``.
        payload: bytes only the consumer understands.
        id: stable id; a job whose id is already waiting is not enqueued twice. New when None.
        run_at: not before this instant; at once when None.
        priority: see :class:`Priority`.
        ordering_key: jobs of one key are held by one owner at a time and leased oldest first.
        weight: what ``max_weight`` counts, e.g. the events in a batch; 1 or more.
        lane: what a lease may exclude, e.g. the function whose runs have taken their share.
        error: why the job is enqueued buried: visible, and due only after ``revive``.
    """

    queue: str
    payload: bytes
    id: UUID | None = None
    run_at: datetime | None = None
    priority: Priority = Priority.NORMAL
    ordering_key: str | None = None
    weight: int = 1
    lane: str | None = None
    error: str | None = None


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A leased job.

    Args:
        attempt: leases so far, this one included; a killed process raises it too.
        retries: how often ``retry`` gave it back, so how often working on it failed.
        group: see :meth:`Queue.lease_group`.
    """

    id: UUID
    queue: str
    payload: bytes
    attempt: int
    retries: int
    priority: Priority
    ordering_key: str | None
    weight: int
    lane: str | None
    run_at: datetime
    enqueued_at: datetime
    lease: UUID
    group: UUID | None


class Depth(msgspec.Struct, frozen=True, kw_only=True):
    """What waits in a queue, in jobs; ``lag_seconds`` is the wait of the oldest ready job."""

    ready: int
    delayed: int
    leased: int
    buried: int
    lag_seconds: float


class Queue(Protocol):
    """Durable queues by name.

    Concurrency: safe to share in one event loop and, through the database, between processes.
    Idempotency: ``enqueue`` of an id that still waits changes nothing.
    """

    async def enqueue(self, session: AsyncSession, jobs: Sequence[NewJob]) -> None:
        """Add jobs in the caller's transaction; consumers are woken after it commits."""
        ...

    async def lease(
        self,
        queue: str,
        *,
        limit: int,
        duration: timedelta,
        max_weight: int | None = None,
        without_lanes: Collection[str] = (),
    ) -> list[Job]:
        """Take up to ``limit`` due jobs (at least one when any is due), oldest first.

        Args:
            queue: name of the queue.
            limit: most jobs to take, 1 or more.
            duration: after this the jobs may be leased by others, unless ``extend`` is called.
            max_weight: stop before the sum of weights passes this (one heavy job still goes).
            without_lanes: pass over jobs of these lanes.

        Returns:
            The jobs in order of priority and ``run_at``; ``[]`` when nothing is due.
        """
        ...

    async def lease_group(
        self,
        queue: str,
        *,
        limit: int,
        duration: timedelta,
        max_weight: int,
        max_bytes: int | None = None,
    ) -> list[Job]:
        """Take due jobs of ONE ordering key as a group that stays together for ever.

        ``max_bytes`` bounds the payloads of a new group; one job above it is a group of its own.

        When the lease is lost, the very same jobs come back under the same ``group`` id, so that
        the id can serve as a deduplication token for their joint effect.
        """
        ...

    async def extend(self, jobs: Sequence[Job], duration: timedelta) -> None:
        """Hold leased jobs for ``duration`` from now; jobs no longer held are passed over."""
        ...

    async def finish(self, session: AsyncSession, jobs: Sequence[Job]) -> None:
        """Remove leased jobs in the caller's transaction.

        Raises:
            LeaseLost: one of them is held by somebody else now, or gone.
        """
        ...

    async def retry(
        self,
        session: AsyncSession,
        job: Job,
        *,
        run_at: datetime,
        payload: bytes | None = None,
        priority: Priority | None = None,
    ) -> None:
        """Give a leased job back, due at ``run_at``, with another payload when one is given.

        Raises:
            LeaseLost: the job is held by somebody else now, or gone.
        """
        ...

    async def bury(self, session: AsyncSession, job: Job, reason: str) -> None:
        """Keep a leased job but lease it no more; ``revive`` brings it back.

        Raises:
            LeaseLost: the job is held by somebody else now, or gone.
        """
        ...

    async def revive(self, session: AsyncSession, queue: str) -> int:
        """Make all buried jobs of a queue due again; returns how many."""
        ...

    async def discard(self, session: AsyncSession, queue: str, lane: str) -> int:
        """Remove the jobs of a lane that nobody holds; returns how many."""
        ...

    async def release(self, jobs: Sequence[Job]) -> None:
        """Give leased jobs back unchanged, due as before; for a stopping worker."""
        ...

    async def reclaim(self) -> int:
        """Release whatever this owner name held before it was killed; returns how many jobs."""
        ...

    async def catch_up(self) -> int:
        """Bring jobs back that were enqueued in the future; returns how many.

        The clock was set back since, and they would wait until it is there again. Each keeps the
        delay it was enqueued with.
        """
        ...

    async def depth(self, queue: str) -> Depth:
        """Measure a queue."""
        ...

    async def wait(self, queue: str, timeout: timedelta) -> None:  # noqa: ASYNC109 (a ceiling, not a cancellation)
        """Return when jobs were enqueued in this process, or after ``timeout`` at the latest."""
        ...

    def wake(self, queue: str) -> None:
        """End the present ``wait`` calls for a queue."""
        ...
