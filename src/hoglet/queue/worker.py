"""The consumer loop of a queue: lease, work, finish; retry failures, then dead-letter."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import msgspec
import structlog

from hoglet.kit.backoff import Backoff
from hoglet.kit.clock import Clock
from hoglet.queue.consumers import keep_leases
from hoglet.queue.port import Job, LeaseLost, Queue
from hoglet.store.database import Database

log = structlog.get_logger(__name__)

MAX_LOST_LEASES = 30
"""A job that lost more leases ends its process: without a limit, a server that is restarted each
time would do nothing else. With a limit of ten, a harmless one was given up when a server was
killed twenty times within two seconds of each start."""
_PAUSE_SECONDS = 1.0
_BACKOFF = Backoff(first=10, longest=3600)


class JobPolicy(msgspec.Struct, frozen=True):
    """How the jobs of a queue are processed.

    Args:
        at_once: number of concurrent jobs.
        lease: after this time another process can lease an unfinished job.
        keeps_lease: extend the lease while the job is processed.
        attempts: failures after which a job is dead-lettered; None retries without limit.
        backoff: waits between attempts.
        idle: poll interval while nothing is enqueued in this process.
    """

    at_once: int = 1
    lease: timedelta = timedelta(minutes=10)
    keeps_lease: bool = False
    attempts: int | None = 3
    backoff: Backoff = _BACKOFF
    idle: timedelta = timedelta(seconds=5)


async def _ignore(_job: Job) -> None:
    return


class JobHandler(msgspec.Struct, frozen=True):
    """How the jobs of a queue are processed.

    Args:
        work: processes a job; an exception is a failed attempt.
        give_up: called once for a job that used up its attempts, before it is dead-lettered.
        finishes_jobs: ``work`` finishes or reschedules its job in a transaction of its own.
    """

    work: Callable[[Job], Awaitable[None]]
    give_up: Callable[[Job], Awaitable[None]] = _ignore
    finishes_jobs: bool = False


class LeasedWorker:
    """Consumes one queue until it is stopped.

    Args:
        queue: source of jobs.
        name: name of the queue.
        handler: processes the jobs.
    """

    def __init__(
        self,
        queue: Queue,
        database: Database,
        clock: Clock,
        name: str,
        handler: JobHandler,
        *,
        policy: JobPolicy = JobPolicy(),
    ) -> None:
        self.name = name
        self._queue = queue
        self._database = database
        self._clock = clock
        self._handler = handler
        self._policy = policy
        self._stopping = asyncio.Event()
        self._running: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Run until :meth:`stop`, then finish the jobs in progress.

        The slot of a finished job is reused at once, without waiting for concurrent jobs.
        """
        try:
            while not self._stopping.is_set():
                await self._fill()
        except asyncio.CancelledError:
            for task in self._running:
                task.cancel()
            raise
        finally:
            await asyncio.gather(*self._running, return_exceptions=True)

    async def _fill(self) -> None:
        """Start due jobs up to the limit; wait until there may be more."""
        try:
            jobs = await self._lease(self._policy.at_once - len(self._running))
        except Exception:  # the database is down or full: the loop must not end
            log.exception("leasing jobs failed", action="lease_failed", queue=self.name)
            await asyncio.sleep(_PAUSE_SECONDS)
            return
        for job in jobs:
            task = asyncio.create_task(self._do_safely(job))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        is_full = len(self._running) >= self._policy.at_once
        if not self._stopping.is_set():
            await self._wait(for_jobs=not is_full)

    async def _wait(self, *, for_jobs: bool) -> None:
        """Wait until a running job ends or, with ``for_jobs``, one is enqueued or due."""
        waiting = set(self._running)
        if for_jobs:
            waiting.add(asyncio.create_task(self._queue.wait(self.name, self._policy.idle)))
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting - self._running:
                task.cancel()

    def stop(self) -> None:
        """Make :meth:`run` return."""
        self._stopping.set()
        self._queue.wake(self.name)

    async def drain(self) -> int:
        """Process everything that is due; returns the number of jobs. For tests and demos."""
        count = 0
        while jobs := await self._lease(self._policy.at_once):
            await asyncio.gather(*map(self._do, jobs))
            count += len(jobs)
        return count

    async def _lease(self, limit: int) -> list[Job]:
        return await self._queue.lease(self.name, limit=limit, duration=self._policy.lease)

    async def _do_safely(self, job: Job) -> None:
        try:
            await self._do(job)
        except Exception:  # the database is down: the job becomes available when its lease expires
            log.exception(
                "a job was not recorded", action="job_left", queue=self.name, job=str(job.id)
            )

    async def _do(self, job: Job) -> None:
        lost = job.attempt - 1 - job.retries
        try:
            if self._policy.attempts is not None and lost > MAX_LOST_LEASES:
                await self._give_up(job, f"its process died {lost} times")
                return
            await self._work(job)
        except LeaseLost:  # another worker has the job now
            return
        except Exception as error:
            log.exception("a job failed", action="job_failed", queue=self.name, job=str(job.id))
            await self._failed(job, error)

    async def _work(self, job: Job) -> None:
        if self._policy.keeps_lease:
            async with keep_leases(self._queue, [job], self._policy.lease):
                await self._handler.work(job)
        else:
            await self._handler.work(job)
        if not self._handler.finishes_jobs:
            async with self._database.write() as session:
                await self._queue.finish(session, [job])

    async def _failed(self, job: Job, error: Exception) -> None:
        """Try again later; lost leases are no failures."""
        policy = self._policy
        if policy.attempts is not None and job.retries + 1 >= policy.attempts:
            await self._give_up(job, str(error) or type(error).__name__)
            return
        async with self._database.write() as session:
            run_at = self._clock.now() + policy.backoff.wait(job.retries)
            await self._queue.retry(session, job, run_at=run_at)

    async def _give_up(self, job: Job, reason: str) -> None:
        log.error("a job was given up", action="job_given_up", queue=self.name, reason=reason)
        await self._handler.give_up(job)
        async with self._database.write() as session:
            await self._queue.dead_letter(session, job, reason)
