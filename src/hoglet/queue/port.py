"""The interface of queues. One contract suite (tests/contract/ports) tests every implementation.

A job is enqueued in the transaction of its cause, so that neither exists without the other. It is
delivered at least once: a worker holds it until the lease expires and finishes it in the
transaction that records its effects. Every job must be safe to run twice.

Source: ARCHITECTURE.md; enqueuing in the caller's transaction is procrastinate's idea.
"""

from collections.abc import Collection, Mapping, Sequence
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
    """The lease expired and another worker may hold the job; roll back."""

    code = "lease_lost"
    retry = "later"


class NewJob(msgspec.Struct, frozen=True, kw_only=True):
    """Work to enqueue.

    Args:
        queue: name of the queue, ``"invocations"``.
        payload: opaque bytes for the consumer.
        id: stable id; a job whose id is already queued is not enqueued again. Generated if None.
        run_at: earliest time to run; None for now.
        priority: see :class:`Priority`.
        ordering_key: jobs with the same key are leased by one owner at a time, oldest first.
        weight: weight for ``max_weight``, e.g. the events in a batch; at least 1.
        lane: group that a lease can exclude, e.g. a function at its limit.
        error: if set, the job is enqueued as a dead letter, due only after ``requeue``.
        group: if set, ``lease_group`` leases the jobs of this group together, under this id.
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
    group: UUID | None = None


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A leased job.

    Args:
        attempt: number of leases including this one; also counts killed processes.
        retries: number of ``retry`` calls, i.e. failed attempts.
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


class Retry(msgspec.Struct, frozen=True):
    """A leased job to release: due at ``run_at``, with a new payload."""

    job: Job
    run_at: datetime
    payload: bytes


class LaneLimit(msgspec.Struct, frozen=True):
    """At most ``jobs`` of all lanes that have a limit with this ``name``."""

    name: str
    jobs: int


class Depth(msgspec.Struct, frozen=True, kw_only=True):
    """Length of a queue in jobs; ``lag_seconds`` is the wait of the oldest ready job."""

    ready: int
    delayed: int
    leased: int
    failed: int
    lag_seconds: float


class Queue(Protocol):
    """Durable queues by name.

    Concurrency: safe to share in one event loop and, through the database, between processes.
    Idempotency: ``enqueue`` of a queued id has no effect.
    """

    def consumer(self, number: int) -> "Queue":
        """A view of the queue for another consumer in this process, with its own leases.

        While one consumer has leased an ordering key, no other consumer leases its jobs.
        """
        ...

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
        max_bytes: int | None = None,
        without_lanes: Collection[str] = (),
        lane_limits: Mapping[str, LaneLimit] | None = None,
    ) -> list[Job]:
        """Lease up to ``limit`` due jobs (at least one if any is due), oldest first.

        Args:
            queue: name of the queue.
            limit: maximum number of jobs to lease, at least 1.
            duration: after this time others can lease the jobs, unless ``extend`` is called.
            max_weight: maximum sum of weights (a single heavier job is leased alone).
            max_bytes: maximum total size of payloads (a single larger job is leased alone).
            without_lanes: lanes to skip.
            lane_limits: limits of some lanes. Older jobs beyond them may take up ``limit``, so the
                next lease should skip lanes that have reached theirs.

        Returns:
            The jobs in order of priority and ``run_at``; ``[]`` if nothing is due.
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
        mixed_weight: int = 0,
    ) -> list[Job]:
        """Lease due jobs as a group that stays together permanently.

        They have ONE ordering key, unless all due jobs of the oldest one's key weigh no more than
        ``mixed_weight`` and fewer than ``limit`` jobs are due: then those of other keys join, up
        to that weight together.
        ``max_bytes`` limits the payloads of a new group; a larger job forms a group by itself.

        If the lease is lost, the same jobs are leased again under the same ``group`` id, so the id
        can serve as a deduplication token for their joint effect.
        """
        ...

    def left_some(self, queue: str) -> bool:
        """Whether this consumer's last lease did not take all due jobs."""
        ...

    async def undo_lease(self, jobs: Sequence[Job]) -> None:
        """Release jobs of a new group as if it had not been leased: they may join other groups."""
        ...

    async def extend(self, jobs: Sequence[Job], duration: timedelta) -> None:
        """Extend the leases of jobs to ``duration`` from now; jobs no longer held are skipped."""
        ...

    async def finish(self, session: AsyncSession, jobs: Sequence[Job]) -> None:
        """Remove leased jobs in the caller's transaction.

        Raises:
            LeaseLost: one of the jobs is held by another worker, or no longer exists.
        """
        ...

    async def retry(self, session: AsyncSession, job: Job, *, run_at: datetime) -> None:
        """Release a leased job, due at ``run_at``.

        Raises:
            LeaseLost: the job is held by another worker, or gone.
        """
        ...

    async def retry_all(self, session: AsyncSession, retries: Sequence[Retry]) -> None:
        """Release leased jobs, each with a new payload.

        Raises:
            LeaseLost: one of the jobs is held by another worker, or gone.
        """
        ...

    async def dead_letter(self, session: AsyncSession, job: Job, reason: str) -> None:
        """Set a leased job aside as permanently failed; ``requeue`` makes it due again.

        Raises:
            LeaseLost: the job is held by another worker, or gone.
        """
        ...

    async def requeue(self, session: AsyncSession, queue: str) -> int:
        """Make all dead-lettered jobs of a queue due again; returns how many."""
        ...

    async def discard(self, session: AsyncSession, queue: str, lane: str) -> int:
        """Delete the jobs of a lane that are not leased; returns how many."""
        ...

    async def release(self, jobs: Sequence[Job]) -> None:
        """Release leased jobs unchanged; for a stopping worker."""
        ...

    async def reclaim(self) -> int:
        """Release the jobs this owner and its consumers held before it was killed.

        Returns how many.
        """
        ...

    async def catch_up(self) -> int:
        """Reschedule jobs that were enqueued in the future; returns how many.

        Without this, jobs enqueued before the clock was set back would wait for it to catch up.
        Each job keeps the delay it was enqueued with.
        """
        ...

    async def depth(self, queue: str) -> Depth:
        """Measure a queue."""
        ...

    async def unfinished(self, queues: Collection[str]) -> set[str]:
        """Those of the queues that have jobs which have not failed permanently."""
        ...

    async def wait(self, queue: str, timeout: timedelta) -> None:  # noqa: ASYNC109 (a ceiling, not a cancellation)
        """Return when jobs were enqueued in this process, or after ``timeout``."""
        ...

    def wake(self, queue: str) -> None:
        """End the current ``wait`` calls for a queue."""
        ...
