"""The consumer loop of a queue: lease, work, finish; retry failures, then dead-letter."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import structlog

from hoglet.kit.clock import Clock
from hoglet.queue.port import Job, Queue
from hoglet.store.database import Database

log = structlog.get_logger(__name__)

_PATIENCE = timedelta(seconds=5)
_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class JobPolicy:
    """How the jobs of a queue are processed.

    Args:
        at_once: jobs in parallel.
        lease: after this another process can lease an unfinished job.
        attempts: failures after which a job is dead-lettered.
        backoff: wait before the second attempt; the third waits twice as long.
    """

    at_once: int = 1
    lease: timedelta = timedelta(minutes=10)
    attempts: int = 3
    backoff: timedelta = timedelta(seconds=10)


async def _ignore(_job: Job) -> None:
    return


class LeasedWorker:
    """Consumes one queue until it is stopped.

    Args:
        queue: source of jobs.
        name: of the queue.
        work: processes a job; an exception is a failed attempt.
        give_up: called once for a job that used up its attempts, before it is dead-lettered.
    """

    def __init__(
        self,
        queue: Queue,
        database: Database,
        clock: Clock,
        name: str,
        *,
        work: Callable[[Job], Awaitable[None]],
        give_up: Callable[[Job], Awaitable[None]] = _ignore,
        policy: JobPolicy | None = None,
    ) -> None:
        self.name = name
        self._queue = queue
        self._database = database
        self._clock = clock
        self._work = work
        self._give_up = give_up
        self._policy = policy or JobPolicy()
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Run until :meth:`stop`, then finish the jobs in progress."""
        while not self._stopping.is_set():
            try:
                jobs = await self._lease()
                await asyncio.gather(*map(self._do, jobs))
            except Exception:  # the database is down or full: the loop must not end
                log.exception("leasing jobs failed", action="lease_failed", queue=self.name)
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            if not jobs and not self._stopping.is_set():
                await self._queue.wait(self.name, _PATIENCE)

    def stop(self) -> None:
        """Make :meth:`run` return."""
        self._stopping.set()
        self._queue.wake(self.name)

    async def drain(self) -> int:
        """Process everything that is due; returns the number of jobs. For tests and demos."""
        count = 0
        while jobs := await self._lease():
            await asyncio.gather(*map(self._do, jobs))
            count += len(jobs)
        return count

    async def _lease(self) -> list[Job]:
        policy = self._policy
        return await self._queue.lease(self.name, limit=policy.at_once, duration=policy.lease)

    async def _do(self, job: Job) -> None:
        try:
            await self._work(job)
        except Exception as error:
            log.exception("a job failed", action="job_failed", queue=self.name, job=str(job.id))
            await self._failed(job, error)
            return
        async with self._database.write() as session:
            await self._queue.finish(session, [job])

    async def _failed(self, job: Job, error: Exception) -> None:
        policy = self._policy
        is_last = job.attempt >= policy.attempts
        if is_last:
            await self._give_up(job)
        async with self._database.write() as session:
            if is_last:
                await self._queue.bury(session, job, str(error) or type(error).__name__)
                return
            run_at = self._clock.now() + policy.backoff * job.attempt
            await self._queue.retry(session, job, run_at=run_at)
