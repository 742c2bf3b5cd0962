"""The services of cohorts, stored in ``app.state.cohorts``."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import msgspec
from starlette.requests import Request

from hoglet.access.auth import AccessService
from hoglet.cohorts.calculation.schedule import DEFAULT_AGE, CohortSchedule
from hoglet.cohorts.calculation.service import UNEXPECTED, CohortCalculator
from hoglet.cohorts.compiler import CohortCompiler
from hoglet.cohorts.jobs import COHORTS, CalculateV1, FillV1, merge_job, read_job
from hoglet.cohorts.members import CohortMembers
from hoglet.cohorts.persons import CohortPersons
from hoglet.cohorts.service import CohortService
from hoglet.cohorts.static.service import StaticCohorts
from hoglet.endpoints.container import EndpointServices
from hoglet.queue.port import Job, Queue
from hoglet.queue.worker import JobHandler, JobPolicy, LeasedWorker

AT_ONCE = 2
_WHILE_FILLING = timedelta(seconds=2)


class CohortServices(msgspec.Struct, frozen=True):
    """Services used by the routes and jobs of cohorts."""

    service: CohortService
    static: StaticCohorts
    persons: CohortPersons
    schedule: CohortSchedule
    worker: LeasedWorker

    async def run_until(self, stopping: asyncio.Event) -> None:
        """Process jobs and the schedule until stopped."""
        schedule = asyncio.create_task(self.schedule.run_until(stopping), name="cohort schedule")
        work = asyncio.create_task(self.worker.run(), name="cohort worker")
        await stopping.wait()
        self.worker.stop()
        await asyncio.gather(schedule, work)


def build_cohorts(
    endpoints: EndpointServices,
    queue: Queue,
    *,
    changed: Callable[[], None],
    age: timedelta = DEFAULT_AGE,
) -> CohortServices:
    """Build the services of cohorts from those of endpoints.

    Args:
        endpoints: provides the compiler, the warehouse and limits.
        queue: receives the jobs.
        changed: called when the cohorts or members that queries read have changed.
        age: maximum age of a dynamic cohort's members.
    """
    access, database = endpoints.access, endpoints.database
    compiler = CohortCompiler(endpoints.compiler)
    seconds = endpoints.settings.background_seconds
    members = CohortMembers(endpoints.warehouse, seconds=seconds)
    parts = (database, access.clock, compiler, members, changed)
    calculator, static = CohortCalculator(*parts), StaticCohorts(*parts)
    handler = _handler(access, queue, calculator, static)
    policy = JobPolicy(at_once=AT_ONCE, lease=timedelta(hours=1))
    return CohortServices(
        service=CohortService(access, queue, compiler, changed=changed),
        static=static,
        persons=CohortPersons(database, endpoints.warehouse, compiler, members),
        schedule=CohortSchedule(database, access.clock, queue, age=age),
        worker=LeasedWorker(queue, database, access.clock, COHORTS, handler, policy=policy),
    )


def _handler(
    access: AccessService, queue: Queue, calculator: CohortCalculator, static: StaticCohorts
) -> JobHandler:
    async def work(job: Job) -> None:
        request = read_job(job.payload)
        if isinstance(request, CalculateV1):
            await calculator.run(request)
        elif isinstance(request, FillV1):
            await static.fill(request)
        elif not await static.merge(request):
            later = access.clock.now() + _WHILE_FILLING
            async with access.database.write() as session:
                await queue.enqueue(session, [merge_job(request, later)])

    async def give_up(job: Job) -> None:
        request = read_job(job.payload)
        if isinstance(request, FillV1):
            await static.fail(request, UNEXPECTED, "error")

    return JobHandler(work, give_up)


def services_of(request: Request) -> CohortServices:
    """The services of the application."""
    services: CohortServices = request.app.state.cohorts
    return services
