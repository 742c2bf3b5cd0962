"""Background work of endpoints: builds, background runs, housekeeping, the query log.

Start ``EndpointJobs.run_until`` once in processes with the role.
"""

import asyncio
from collections.abc import Callable, Sequence

import msgspec
import structlog

from hoglet.endpoints import repository
from hoglet.endpoints.materialization.builder import TableBuilder
from hoglet.endpoints.materialization.builds import delete_old_builds
from hoglet.endpoints.materialization.scheduler import (
    BuildJob,
    DropJob,
    MaterializationScheduler,
    TableJob,
)
from hoglet.endpoints.query_log.log import QueryLog
from hoglet.endpoints.run.background import BackgroundRuns, RunJob
from hoglet.kit.clock import Clock
from hoglet.queue.port import Job
from hoglet.queue.worker import JobHandler, JobPolicy, LeasedWorker
from hoglet.store.database import Database

logger = structlog.get_logger(__name__)

HOUSEKEEPING_SECONDS = 6 * 3600
_TABLE_JOB: msgspec.json.Decoder[TableJob] = msgspec.json.Decoder(BuildJob | DropJob)
_RUN_JOB = msgspec.json.Decoder(RunJob)
RUN_POLICY = JobPolicy(at_once=4)
BUILD_POLICY = JobPolicy(keeps_lease=True)
"""A build is several statements, so that it may take longer than any lease."""


def table_jobs(builder: TableBuilder, forget: Callable[[], None]) -> JobHandler:
    """Builds and drops tables; ``forget`` is called after a build, so that runs see it at once."""

    async def work(job: Job) -> None:
        request = _TABLE_JOB.decode(job.payload)
        if isinstance(request, DropJob):
            await builder.drop(request.table)
            return
        await builder.build(request)
        forget()

    async def give_up(job: Job) -> None:
        request = _TABLE_JOB.decode(job.payload)
        if isinstance(request, BuildJob):
            await builder.give_up(request)

    return JobHandler(work, give_up)


def run_jobs(background: BackgroundRuns) -> JobHandler:
    """Processes background runs."""

    async def work(job: Job) -> None:
        await background.do(_RUN_JOB.decode(job.payload))

    async def give_up(job: Job) -> None:
        await background.give_up(_RUN_JOB.decode(job.payload))

    return JobHandler(work, give_up)


class EndpointHousekeeping:
    """Drops unused tables, and disables versions that were not run for a month.

    Args:
        forget: called after tables changed, so that runs see it at once.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        builder: TableBuilder,
        materializer: MaterializationScheduler,
        forget: Callable[[], None],
    ) -> None:
        self._database = database
        self._clock = clock
        self._forget = forget
        self._builder = builder
        self._materializer = materializer

    async def run_until(self, stopping: asyncio.Event) -> None:
        """Run every six hours until the event is set."""
        while not stopping.is_set():
            try:
                await self.clean_up()
            except Exception:  # retried later
                logger.exception("housekeeping failed", action="sweep_failed")
            try:
                async with asyncio.timeout(HOUSEKEEPING_SECONDS):
                    await stopping.wait()
            except TimeoutError:
                continue

    async def clean_up(self) -> None:
        """Drop unused tables and disable unused versions.

        Also rebuilds tables that another process, or an older hoglet, built for other settings.
        """
        await self._builder.sweep()
        async with self._database.write() as session:
            await self._materializer.disable_unused(session)
            await self._materializer.renew_outdated(session)
            await repository.delete_expired_runs(session, self._clock.now())
            await delete_old_builds(session, self._clock.now())
        self._forget()


class EndpointJobs:
    """The consumers of both queues, and periodic work.

    Args:
        workers: the workers of table jobs and run jobs.
        housekeeping: runs every six hours.
        log: flushed in a loop of its own.
    """

    def __init__(
        self,
        workers: Sequence[LeasedWorker],
        housekeeping: EndpointHousekeeping,
        log: QueryLog,
    ) -> None:
        self.housekeeping = housekeeping
        self._workers = workers
        self._log = log

    async def run_until(self, stopping: asyncio.Event) -> None:
        """Work until the event is set, then finish the jobs in progress."""
        async with asyncio.TaskGroup() as group:
            for worker in self._workers:
                group.create_task(worker.run())
            group.create_task(self.housekeeping.run_until(stopping))
            group.create_task(self._log.run_until(stopping))
            await stopping.wait()
            for worker in self._workers:
                worker.stop()

    async def drain(self) -> int:
        """Process all jobs that are due; returns their number. For tests and demos."""
        return sum([await worker.drain() for worker in self._workers])
