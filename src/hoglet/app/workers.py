"""The background workers of a server, and their shutdown order."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

import structlog

from hoglet.app.services.container import Services
from hoglet.app.services.endpoints import SCHEMA_SECONDS
from hoglet.app.services.features import Features
from hoglet.app.services.sandboxes import IngestSandboxes
from hoglet.definitions.tracker import DefinitionTracker
from hoglet.functions.jobs import BACKFILL_QUEUE, RECOMPILE_QUEUE
from hoglet.pipeline.backfills import BACKFILL_POLICY, BackfillPager
from hoglet.pipeline.delivery.attempt import HostCallAttempts
from hoglet.pipeline.delivery.completion import CompletionBatcher
from hoglet.pipeline.delivery.executor import DeliveryStages, Executor
from hoglet.pipeline.delivery.function_cache import FunctionCache
from hoglet.pipeline.delivery.host_limits import HostLimiter, HostSettings
from hoglet.pipeline.delivery.host_rates import HostRates
from hoglet.pipeline.delivery.metrics import DeliveryMetrics
from hoglet.pipeline.delivery.run import InvocationRunner
from hoglet.pipeline.delivery.step_batcher import StepBatcher
from hoglet.pipeline.ingest.commit import ChunkCommitter, FunctionReports, ProjectState
from hoglet.pipeline.ingest.filtered_counts import DeferredFilteredCounts
from hoglet.pipeline.ingest.group_processor import GroupProcessor
from hoglet.pipeline.ingest.metrics import IngestMetrics
from hoglet.pipeline.ingest.replication import WarehouseReplicator
from hoglet.pipeline.ingest.sandbox_client import PipelineSandboxClient
from hoglet.pipeline.ingest.worker import (
    BatchWorker,
    GroupLimits,
    GroupStages,
    IngestMonitoring,
    ProjectSources,
)
from hoglet.pipeline.internal_events import INTERNAL_POLICY, INTERNAL_QUEUE, InternalEventMatcher
from hoglet.pipeline.maintenance import ExpiredRows, MaintenanceWorker
from hoglet.pipeline.persons.deletions import DELETIONS_QUEUE
from hoglet.pipeline.queue_metrics import QueueMetrics
from hoglet.pipeline.recompile import RECOMPILE_POLICY, Recompiler
from hoglet.pipeline.stored_events import StoredEvents
from hoglet.pipeline.telemetry_outbox import TelemetryOutbox
from hoglet.queue.clock_steps import ClockSteps
from hoglet.queue.worker import JobHandler, JobPolicy, LeasedWorker

log = structlog.get_logger()

COMPILE_SECONDS = 1.0  # between loading the schema for a query and the start of the query
DELETION_ATTEMPTS = 100  # hours apart eventually; a deletion must not be lost
DELETION_POLICY = JobPolicy(lease=timedelta(minutes=30), attempts=DELETION_ATTEMPTS)
RESTART_SECONDS = 1.0  # after a worker failed


@dataclass
class BackgroundWorker:
    """A task that runs until told to stop, then finishes its current work."""

    name: str
    run: Callable[[], Coroutine[Any, Any, None]]
    stop: Callable[[], None]


@asynccontextmanager
async def running(workers: list[BackgroundWorker]) -> AsyncGenerator[None]:
    """Run the workers during the block; stop them in order when it ends.

    In the order of data flow: workers stopped later still process what earlier ones produced.
    """
    stopping = asyncio.Event()
    tasks = [asyncio.create_task(_guarded(one, stopping), name=one.name) for one in workers]
    try:
        yield
    finally:
        stopping.set()
        for worker, task in zip(workers, tasks, strict=True):
            worker.stop()
            await task


def build_workers(rooms: Services, features: Features) -> list[BackgroundWorker]:
    """The workers of this process's roles."""
    roles = rooms.settings.roles
    outbox = TelemetryOutbox(rooms.database, features.functions.telemetry, rooms.health)
    workers: list[BackgroundWorker] = []
    if "pipeline" in roles:
        workers += build_pipeline(rooms, features, outbox)
        steps = ClockSteps(rooms.queue)
        workers.append(BackgroundWorker("clock steps", steps.run, steps.stop))
        recompiler = JobHandler(Recompiler(features.functions.service, rooms.access).work)
        workers.append(_leased(rooms, "recompiler", RECOMPILE_QUEUE, recompiler, RECOMPILE_POLICY))
    if "executor" in roles:
        executor = _executor(rooms, features)
        workers.append(BackgroundWorker("executor", executor.run, executor.stop))
    if "api" in roles:
        workers.append(_endpoint_jobs(features))
        worker = features.queries.worker
        workers.append(BackgroundWorker("queries", worker.run, worker.stop))
        workers.append(_cohort_jobs(features))
    if "pipeline" in roles:  # it has the shared warehouse; an executor's may be its own
        workers.append(BackgroundWorker("telemetry", outbox.run, outbox.stop))
    return workers


class Ingestion(NamedTuple):
    """From the spool to the warehouse: events, then persons and groups."""

    batches: list[BatchWorker]
    copies: WarehouseReplicator
    committing: ChunkCommitter

    async def drain(self) -> None:
        """Process everything that waits; for embedded use without background workers."""
        while await self.batches[0].work_once():
            pass
        while await self.copies.flush():
            pass


def build_ingestion(rooms: Services, features: Features, outbox: TelemetryOutbox) -> Ingestion:
    """The workers that store events."""
    copies = WarehouseReplicator(rooms.database, rooms.queue, rooms.warehouse, rooms.health)
    definitions = DefinitionTracker(
        database=rooms.database,
        clock=rooms.clock,
        limit=rooms.settings.definitions_per_project,
        readers_notice_after=timedelta(seconds=SCHEMA_SECONDS + COMPILE_SECONDS),
        on_detected=rooms.access.providers.properties_detected,
    )
    repository = features.events.repository
    committing = ChunkCommitter(
        database=rooms.database,
        queue=rooms.queue,
        clock=rooms.clock,
        state=ProjectState(repository, copies, definitions),
        reports=FunctionReports(features.functions.letters, features.functions.watcher, outbox),
        warnings=features.events.warnings,
    )
    settings, functions = rooms.settings, features.functions.service
    projects = ProjectSources(rooms.access, functions, settings.resolved_site_url())
    monitoring = IngestMonitoring(rooms.health, IngestMetrics(rooms.registry))

    def batch_worker(number: int, sandboxes: IngestSandboxes) -> BatchWorker:
        calls = PipelineSandboxClient(*sandboxes, functions, settings.pipeline_seconds)
        processor = GroupProcessor(calls, rooms.database, repository)
        return BatchWorker(
            queue=rooms.queue.consumer(number) if number else rooms.queue,
            stages=GroupStages(processor, definitions, rooms.warehouse, committing),
            projects=projects,
            monitoring=monitoring,
            limits=GroupLimits(
                size=settings.pipeline_group_bytes, events=settings.pipeline_group_events
            ),
            number=number,
        )

    batches = [batch_worker(*each) for each in enumerate(rooms.sandboxes.ingest)]
    return Ingestion(batches, copies, committing)


def build_pipeline(
    rooms: Services, features: Features, outbox: TelemetryOutbox
) -> list[BackgroundWorker]:
    """Spool to warehouse and runs; copies of persons; ingestion warnings."""
    batches, copies, committing = build_ingestion(rooms, features, outbox)
    maintenance = MaintenanceWorker(
        features.events.warnings,
        QueueMetrics(rooms.database, rooms.queue, rooms.registry),
        DeferredFilteredCounts(rooms.database, outbox, rooms.clock),
        ExpiredRows(
            rooms.database,
            features.functions.letters,
            features.events.known_uuids,
            rooms.clock,
        ),
    )
    site_url = rooms.settings.resolved_site_url()
    stored = StoredEvents(rooms.warehouse, rooms.access, site_url)
    backfills = BackfillPager(
        queue=rooms.queue,
        database=rooms.database,
        events=stored,
        functions=features.functions.service,
        clock=rooms.clock,
    )
    internal = InternalEventMatcher(
        sandbox=rooms.sandboxes.ingest[0].groups,
        deadline=rooms.settings.pipeline_seconds,
        functions=features.functions.service,
        committing=committing,
        access=rooms.access,
        site_url=site_url,
    )
    person_deletions = JobHandler(features.person_changes.deletions.work)
    return [
        _leased(
            rooms,
            "internal events",
            INTERNAL_QUEUE,
            JobHandler(internal.work, finishes_jobs=True),
            INTERNAL_POLICY,
        ),
        _leased(
            rooms,
            "backfills",
            BACKFILL_QUEUE,
            JobHandler(backfills.work, finishes_jobs=True),
            BACKFILL_POLICY,
        ),
        *(BackgroundWorker("batches", worker.run, worker.stop) for worker in batches),
        BackgroundWorker("copies", copies.run, copies.stop),
        _leased(rooms, "person deletions", DELETIONS_QUEUE, person_deletions, DELETION_POLICY),
        BackgroundWorker("maintenance", maintenance.run, maintenance.stop),
    ]


def _leased(
    rooms: Services, name: str, queue: str, handler: JobHandler, policy: JobPolicy
) -> BackgroundWorker:
    worker = LeasedWorker(rooms.queue, rooms.database, rooms.clock, queue, handler, policy=policy)
    return BackgroundWorker(name, worker.run, worker.stop)


def _endpoint_jobs(features: Features) -> BackgroundWorker:
    """In the API process, because background runs and builds update caches of the API."""
    stopping = asyncio.Event()
    jobs = features.endpoints.jobs

    async def run() -> None:
        await jobs.run_until(stopping)

    return BackgroundWorker("endpoints", run, stopping.set)


def _cohort_jobs(features: Features) -> BackgroundWorker:
    """In the API process, because results update caches of the API."""
    stopping = asyncio.Event()

    async def run() -> None:
        await features.cohorts.run_until(stopping)

    return BackgroundWorker("cohorts", run, stopping.set)


def _executor(rooms: Services, features: Features) -> Executor:
    functions, settings = features.functions, rooms.settings
    limits = HostSettings(
        concurrency=settings.host_concurrency, per_second=settings.host_requests_per_second
    )
    shared = None if rooms.database.is_sqlite else HostRates(rooms.database)
    hosts = HostLimiter(rooms.clock, limits, shared)
    return Executor(
        database=rooms.database,
        queue=rooms.queue,
        clock=rooms.clock,
        stages=DeliveryStages(
            functions=FunctionCache(functions.service),
            runner=InvocationRunner(
                StepBatcher(rooms.sandboxes.run, rooms.settings.executor_seconds),
                HostCallAttempts(functions.calls, rooms.clock),
                hosts,
                rooms.clock,
            ),
            endings=CompletionBatcher(
                database=rooms.database,
                queue=rooms.queue,
                endings=functions.run_endings,
                metrics=DeliveryMetrics(rooms.registry),
                clock=rooms.clock,
            ),
            hosts=hosts,
        ),
    )


async def _guarded(worker: BackgroundWorker, stopping: asyncio.Event) -> None:
    """A worker that fails (full disk, lost database) is restarted."""
    while True:
        try:
            await worker.run()
        except Exception:
            log.exception("a worker failed", action="worker_failed", worker=worker.name)
        if stopping.is_set():
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), RESTART_SECONDS)
