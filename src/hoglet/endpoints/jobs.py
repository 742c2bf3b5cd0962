"""Background work of endpoints: builds, background runs, housekeeping, the run log.

Start ``EndpointJobs.run_until`` once in the processes that have the role.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import msgspec
import structlog

from hoglet.endpoints import repository
from hoglet.endpoints.materialization.builder import TableBuilder
from hoglet.endpoints.materialization.scheduler import (
    BUILDS,
    BuildJob,
    DropJob,
    MaterializationScheduler,
    TableJob,
)
from hoglet.endpoints.query_log.log import QueryLog
from hoglet.endpoints.run.background import RUNS, BackgroundRuns, RunJob
from hoglet.kit.clock import Clock
from hoglet.queue.port import Job, Queue
from hoglet.store.database import Database

logger = structlog.get_logger(__name__)

LEASE = timedelta(minutes=10)
PATIENCE = timedelta(seconds=5)
PAUSE_SECONDS = 1.0
HOUSEKEEPING_SECONDS = 6 * 3600
MOST_ATTEMPTS = 3
_TABLE_JOB: msgspec.json.Decoder[TableJob] = msgspec.json.Decoder(BuildJob | DropJob)


class EndpointJobs:
    """The consumers of both queues.

    Args:
        builder: does table jobs.
        background: does run jobs.
        log: written out by a loop of its own.
        forget: called after a table changed, so that runs see it at once.
    """

    def __init__(
        self,
        queue: Queue,
        database: Database,
        clock: Clock,
        *,
        builder: TableBuilder,
        materializer: MaterializationScheduler,
        background: BackgroundRuns,
        log: QueryLog,
        forget: Callable[[], None],
    ) -> None:
        self._queue = queue
        self._database = database
        self._clock = clock
        self._builder = builder
        self._materializer = materializer
        self._background = background
        self._log = log
        self._forget = forget

    async def run_until(self, stopping: asyncio.Event) -> None:
        """Work until the event is set, then end what was begun."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._consume(BUILDS, self._do_table_job, stopping, at_once=1))
            group.create_task(self._consume(RUNS, self._do_run_job, stopping, at_once=4))
            group.create_task(self._keep_house(stopping))
            group.create_task(self._log.run_until(stopping))

    async def work_off(self) -> int:
        """Do everything that is due, then return how many jobs that were; for tests and demos."""
        done = 0
        for queue, work in ((BUILDS, self._do_table_job), (RUNS, self._do_run_job)):
            while jobs := await self._queue.lease(queue, limit=10, duration=LEASE):
                for job in jobs:
                    await self._do(job, work)
                    done += 1
        return done

    async def _consume(
        self,
        queue: str,
        work: Callable[[Job], Awaitable[None]],
        stopping: asyncio.Event,
        *,
        at_once: int,
    ) -> None:
        while not stopping.is_set():
            try:
                jobs = await self._queue.lease(queue, limit=at_once, duration=LEASE)
                await asyncio.gather(*(self._do(job, work) for job in jobs))
            except Exception:  # the database is away or full: the work waits, the loop must not end
                logger.exception("jobs could not be taken", action="lease_failed", queue=queue)
                jobs = []
                await asyncio.sleep(PAUSE_SECONDS)
            if not jobs:
                await self._wait(queue, stopping)

    async def _wait(self, queue: str, stopping: asyncio.Event) -> None:
        waiting = asyncio.ensure_future(self._queue.wait(queue, PATIENCE))
        stopped = asyncio.ensure_future(stopping.wait())
        await asyncio.wait({waiting, stopped}, return_when=asyncio.FIRST_COMPLETED)
        for task in (waiting, stopped):
            task.cancel()
        await asyncio.gather(waiting, stopped, return_exceptions=True)

    async def _do(self, job: Job, work: Callable[[Job], Awaitable[None]]) -> None:
        """Do a job; one that hoglet itself cannot do is tried three times, then buried."""
        try:
            await work(job)
        except Exception as error:
            logger.exception("a job failed", action="job_failed", queue=job.queue, job=str(job.id))
            await self._give_back(job, error)
            return
        async with self._database.write() as session:
            await self._queue.finish(session, [job])

    async def _give_back(self, job: Job, error: Exception) -> None:
        if job.attempt >= MOST_ATTEMPTS and job.queue == BUILDS:
            wanted = _TABLE_JOB.decode(job.payload)
            if isinstance(wanted, BuildJob):
                await self._builder.give_up(wanted)
        if job.attempt >= MOST_ATTEMPTS and job.queue == RUNS:
            await self._background.give_up(msgspec.json.decode(job.payload, type=RunJob))
        async with self._database.write() as session:
            if job.attempt >= MOST_ATTEMPTS:
                await self._queue.bury(session, job, str(error) or type(error).__name__)
                return
            wait = timedelta(seconds=10 * job.attempt)
            await self._queue.retry(session, job, run_at=self._clock.now() + wait)

    async def _do_table_job(self, job: Job) -> None:
        wanted = _TABLE_JOB.decode(job.payload)
        if isinstance(wanted, DropJob):
            await self._builder.drop(wanted.table)
            return
        await self._builder.build(wanted)
        self._forget()

    async def _do_run_job(self, job: Job) -> None:
        await self._background.do(msgspec.json.decode(job.payload, type=RunJob))

    async def _keep_house(self, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            try:
                await self.keep_house()
            except Exception:  # tried again later
                logger.exception("housekeeping failed", action="sweep_failed")
            try:
                async with asyncio.timeout(HOUSEKEEPING_SECONDS):
                    await stopping.wait()
            except TimeoutError:
                continue

    async def keep_house(self) -> None:
        """Drop what nobody uses: left-over tables, and versions nobody has run for a month.

        Build anew what another process, or an older hoglet, left built for other settings.
        """
        await self._builder.sweep()
        async with self._database.write() as session:
            await self._materializer.disable_unused(session)
            await self._materializer.renew_outdated(session)
            await repository.delete_expired_runs(session, self._clock.now())
        self._forget()
