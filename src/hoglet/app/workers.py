"""The background workers of a server, and their shutdown order."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple

import msgspec
import structlog

from hoglet.app.services.container import Services
from hoglet.app.services.features import Features
from hoglet.app.services.sandboxes import IngestSandboxes
from hoglet.definitions.tracker import DefinitionTracker
from hoglet.endpoints.worker.compiler import SCHEMA_SECONDS
from hoglet.functions.compile.recompile import RECOMPILE_POLICY, Recompiler
from hoglet.functions.jobs import BACKFILL_QUEUE, INVOKE_QUEUE, RECOMPILE_QUEUE
from hoglet.functions.loader import FunctionCache
from hoglet.pipeline.backfills import BACKFILL_POLICY, BackfillPager
from hoglet.pipeline.delivery.attempt import HostCallAttempts
from hoglet.pipeline.delivery.completion import CompletionBatcher, DeliveryMetrics
from hoglet.pipeline.delivery.executor import DeliveryStages, Executor
from hoglet.pipeline.delivery.host_limits import HostLimiter, HostSettings
from hoglet.pipeline.delivery.host_rates import HostRates
from hoglet.pipeline.delivery.run import InvocationRunner
from hoglet.pipeline.delivery.step_batcher import StepBatcher
from hoglet.pipeline.ingest.commit import FunctionReports, GroupCommitter, ProjectState
from hoglet.pipeline.ingest.filtered_counts import DeferredFilteredCounts
from hoglet.pipeline.ingest.group_processor import GroupProcessor, PipelineSandboxClient
from hoglet.pipeline.ingest.group_writer import GroupStages
from hoglet.pipeline.ingest.metrics import IngestMetrics
from hoglet.pipeline.ingest.replication import WarehouseReplicator
from hoglet.pipeline.ingest.sources import GroupLimits, JobSource
from hoglet.pipeline.ingest.spool_log.ranges import LogRanges
from hoglet.pipeline.ingest.spool_log.source import LogSource
from hoglet.pipeline.ingest.worker import BatchWorker, IngestMonitoring, ProjectSources
from hoglet.pipeline.internal_events import INTERNAL_POLICY, INTERNAL_QUEUE, InternalEventMatcher
from hoglet.pipeline.maintenance import ExpiredRows, MaintenanceWorker
from hoglet.pipeline.persons.deletions import DELETIONS_QUEUE
from hoglet.pipeline.queue_metrics import QueueMetrics
from hoglet.pipeline.spool_backlog import SpoolBacklog
from hoglet.pipeline.stored_events import StoredEvents
from hoglet.pipeline.telemetry_outbox import TelemetryOutbox
from hoglet.queue.clock_steps import ClockSteps
from hoglet.queue.consumers import Bursts
from hoglet.queue.owners import LeaseOwner
from hoglet.queue.worker import JobHandler, JobPolicy, LeasedWorker
from hoglet.spool.owners import PartitionOwner

log = structlog.get_logger()

COMPILE_SECONDS = 1.0  # maximum time between loading a query's schema and starting it
DELETION_ATTEMPTS = 100  # the last ones are hours apart; a deletion must not be lost
DELETION_POLICY = JobPolicy(lease=timedelta(minutes=30), attempts=DELETION_ATTEMPTS)
RESTART_SECONDS = 1.0  # after a worker failed
STOP_SECONDS = 15.0  # of all workers together; what they leave is leased, and due again
LEAST_STOP_SECONDS = 0.5  # of each, for what takes no time, such as giving up leases


class BackgroundWorker(msgspec.Struct):
    """A task that runs until it is stopped, then finishes its current work.

    ``stops_first``: it takes jobs from the database, which can wait for the next start.
    """

    name: str
    run: Callable[[], Coroutine[Any, Any, None]]
    stop: Callable[[], None]
    stops_first: bool = False


@asynccontextmanager
async def running(workers: list[BackgroundWorker]) -> AsyncGenerator[Callable[[], None]]:
    """Run the workers during the block; stop them when it ends.

    Those that take jobs stop first, all together, and already when the block calls what it is
    given: while the last requests are answered, runs in progress end and no new ones begin. The
    others stop in the order of data flow: later ones still process the output of earlier ones.
    What has not ended in time is cancelled.
    """
    stopping = asyncio.Event()
    tasks = [
        asyncio.create_task(_guarded(worker, stopping), name=worker.name) for worker in workers
    ]

    def stop_leasing() -> None:
        stopping.set()
        for worker in workers:
            if worker.stops_first:
                worker.stop()

    try:
        yield stop_leasing
    finally:
        stop_leasing()
        deadline = time.monotonic() + STOP_SECONDS
        for worker, task in zip(workers, tasks, strict=True):
            worker.stop()
            await _ended(worker.name, task, deadline)


async def _ended(name: str, task: asyncio.Task[None], deadline: float) -> None:
    """Wait for a worker that was stopped; cancel it at the deadline."""
    left = max(LEAST_STOP_SECONDS, deadline - time.monotonic())
    done, _ = await asyncio.wait({task}, timeout=left)
    if not done:
        log.warning("a worker was cancelled", action="worker_cancelled", worker=name)
        task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def build_workers(services: Services, features: Features) -> list[BackgroundWorker]:
    """The workers of this process's roles."""
    roles = services.settings.roles
    outbox = features.functions.completion_writer.outbox  # the one that runs write to wakes it
    workers: list[BackgroundWorker] = []
    bursts = Bursts(on_end=partial(services.queue.wake, INVOKE_QUEUE))
    if "pipeline" in roles:
        workers += build_pipeline(services, features, outbox, bursts)
        steps = ClockSteps(services.queue)
        workers.append(BackgroundWorker("clock steps", steps.run, steps.stop))
        recompiler = JobHandler(Recompiler(features.functions.service, services.access).work)
        workers.append(
            _leased(services, "recompiler", RECOMPILE_QUEUE, recompiler, RECOMPILE_POLICY)
        )
    if "executor" in roles:
        executor = _executor(services, features, bursts)
        workers.append(BackgroundWorker("executor", executor.run, executor.stop, stops_first=True))
    if "api" in roles:
        workers.append(_endpoint_jobs(features))
        worker = features.queries.worker
        workers.append(BackgroundWorker("queries", worker.run, worker.stop, stops_first=True))
        workers.append(_cohort_jobs(features))
        if services.settings.warehouse_cluster is None:
            columns = features.text_columns
            workers.append(BackgroundWorker("property columns", columns.run, columns.stop))
    if "pipeline" in roles:  # an executor may have a warehouse of its own
        workers.append(BackgroundWorker("telemetry", outbox.run, outbox.stop))
    if not services.database.is_sqlite:  # last: its heartbeat protects the leases of the others
        owner = LeaseOwner(services.database, services.clock, name=services.name)
        workers.append(BackgroundWorker("lease owner", owner.run, owner.stop))
    return workers


class Ingestion(NamedTuple):
    """The workers from the spool to the warehouse: events, then persons and groups."""

    batches: list[BatchWorker]
    owners: list[PartitionOwner]
    copies: WarehouseReplicator
    committer: GroupCommitter


def build_ingestion(
    services: Services, features: Features, outbox: TelemetryOutbox, bursts: Bursts
) -> Ingestion:
    """The workers that store events."""
    copies = WarehouseReplicator(
        services.database, services.queue, services.warehouse, services.health
    )
    repository, definitions = features.events.repository, _definitions(services)
    state = ProjectState(repository, copies, definitions)
    committer = _committer(services, features, state, outbox)
    settings, functions = services.settings, features.functions.service.loader
    projects = ProjectSources(services.access, functions, settings.resolved_site_url())
    monitoring = IngestMonitoring(services.health, IngestMetrics(services.registry), bursts)
    logs, owners = _log_sources(services, features)

    def batch_worker(number: int, sandboxes: IngestSandboxes) -> BatchWorker:
        calls = PipelineSandboxClient(*sandboxes, functions, settings.pipeline_seconds)
        processor = GroupProcessor(calls, services.database, repository)
        queue = services.queue.consumer(number) if number else services.queue
        return BatchWorker(
            sources=[*logs, JobSource(queue, services.database, services.clock)],
            stages=GroupStages(
                processor, definitions, services.warehouse, committer, services.lost_writes
            ),
            projects=projects,
            monitoring=monitoring,
            limits=GroupLimits(
                size=settings.pipeline_group_bytes, events=settings.pipeline_group_events
            ),
            number=number,
        )

    batches = [batch_worker(*each) for each in enumerate(services.sandboxes.ingest)]
    return Ingestion(batches, owners, copies, committer)


def _definitions(services: Services) -> DefinitionTracker:
    others_s = 0 if services.database.is_sqlite else SCHEMA_SECONDS  # SQLite has one process
    return DefinitionTracker(
        database=services.database,
        clock=services.clock,
        limit=services.settings.definitions_per_project,
        readers_notice_after=timedelta(seconds=others_s + COMPILE_SECONDS),
        on_detected=services.access.providers.properties_detected,
    )


def _committer(
    services: Services, features: Features, state: ProjectState, outbox: TelemetryOutbox
) -> GroupCommitter:
    functions = features.functions
    return GroupCommitter(
        database=services.database,
        queue=services.queue,
        clock=services.clock,
        state=state,
        reports=FunctionReports(functions.dead_letters, functions.watcher, outbox),
        warnings=features.events.warnings,
    )


def _log_sources(
    services: Services, features: Features
) -> tuple[list[LogSource], list[PartitionOwner]]:
    """The partitions of the spool log, with the owners that divide them among servers."""
    owners: list[PartitionOwner] = []
    logs: list[LogSource] = []
    for each in services.spool_logs:
        owner = PartitionOwner(
            services.database,
            services.clock,
            name=services.name,
            log_name=each.name,
            logs=[log.name for log in services.spool_logs],
            on_lost_commits=partial(services.lost_writes.report, "database"),
        )
        owners.append(owner)
        ranges = LogRanges(
            each, owner, services.database, services.queue, features.events.spool_losses
        )
        logs.append(LogSource(each.log, ranges))
    return logs, owners


def build_pipeline(
    services: Services, features: Features, outbox: TelemetryOutbox, bursts: Bursts
) -> list[BackgroundWorker]:
    """The workers of the pipeline: ingestion, runs, replication of persons, ingestion warnings."""
    batches, owners, copies, committer = build_ingestion(services, features, outbox, bursts)
    maintenance, checkpoints = _maintenance(services, features, outbox), services.checkpoints
    internal = JobHandler(_internal_events(services, features, committer).work, finishes_jobs=True)
    backfills = JobHandler(_backfills(services, features).work, finishes_jobs=True)
    deletions = JobHandler(features.person_changes.deletions.work)
    return [
        _leased(services, "internal events", INTERNAL_QUEUE, internal, INTERNAL_POLICY),
        _leased(services, "backfills", BACKFILL_QUEUE, backfills, BACKFILL_POLICY),
        *(BackgroundWorker("batches", worker.run, worker.stop) for worker in batches),
        *(BackgroundWorker("spool owner", owner.run, owner.stop) for owner in owners),
        BackgroundWorker("copies", copies.run, copies.stop),
        BackgroundWorker("checkpoints", checkpoints.run, checkpoints.stop),
        _leased(services, "person deletions", DELETIONS_QUEUE, deletions, DELETION_POLICY),
        BackgroundWorker("maintenance", maintenance.run, maintenance.stop),
    ]


def _maintenance(
    services: Services, features: Features, outbox: TelemetryOutbox
) -> MaintenanceWorker:
    database, clock = services.database, services.clock
    backlog = SpoolBacklog(database, services.spool_logs, clock)
    expired = ExpiredRows(
        database, features.functions.dead_letters, features.events.known_uuids, clock
    )
    return MaintenanceWorker(
        features.events.warnings,
        QueueMetrics(database, services.queue, backlog, services.registry),
        DeferredFilteredCounts(database, outbox, clock),
        expired,
    )


def _backfills(services: Services, features: Features) -> BackfillPager:
    site_url = services.settings.resolved_site_url()
    return BackfillPager(
        queue=services.queue,
        database=services.database,
        events=StoredEvents(services.warehouse, services.access, site_url),
        functions=features.functions.service.loader,
        clock=services.clock,
    )


def _internal_events(
    services: Services, features: Features, committer: GroupCommitter
) -> InternalEventMatcher:
    return InternalEventMatcher(
        sandbox=services.sandboxes.ingest[0].groups,
        deadline=services.settings.pipeline_seconds,
        functions=features.functions.service.loader,
        committer=committer,
        access=services.access,
        site_url=services.settings.resolved_site_url(),
    )


def _leased(
    services: Services, name: str, queue: str, handler: JobHandler, policy: JobPolicy
) -> BackgroundWorker:
    worker = LeasedWorker(
        services.queue, services.database, services.clock, queue, handler, policy=policy
    )
    return BackgroundWorker(name, worker.run, worker.stop, stops_first=True)


def _endpoint_jobs(features: Features) -> BackgroundWorker:
    """The jobs of endpoints; in the API process, because they update caches of the API."""
    stopping = asyncio.Event()
    jobs = features.endpoints.jobs

    async def run() -> None:
        await jobs.run_until(stopping)

    return BackgroundWorker("endpoints", run, stopping.set, stops_first=True)


def _cohort_jobs(features: Features) -> BackgroundWorker:
    """The jobs of cohorts; in the API process, because they update caches of the API."""
    stopping = asyncio.Event()

    async def run() -> None:
        await features.cohorts.run_until(stopping)

    return BackgroundWorker("cohorts", run, stopping.set, stops_first=True)


def _executor(services: Services, features: Features, bursts: Bursts) -> Executor:
    functions, settings = features.functions, services.settings
    limits = HostSettings(
        concurrency=settings.host_concurrency, per_second=settings.host_requests_per_second
    )
    shared = None if services.database.is_sqlite else HostRates(services.database)
    hosts = HostLimiter(services.clock, limits, shared)
    return Executor(
        database=services.database,
        queue=services.queue,
        clock=services.clock,
        stages=DeliveryStages(
            functions=FunctionCache(functions.service.loader),
            runner=InvocationRunner(
                StepBatcher(services.sandboxes.run, services.settings.executor_seconds),
                HostCallAttempts(functions.calls, services.clock),
                hosts,
                services.clock,
            ),
            completions=CompletionBatcher(
                database=services.database,
                queue=services.queue,
                writer=functions.completion_writer,
                metrics=DeliveryMetrics(services.registry),
                clock=services.clock,
            ),
            hosts=hosts,
        ),
        bursts=bursts,
    )


async def _guarded(worker: BackgroundWorker, stopping: asyncio.Event) -> None:
    """Run a worker; restart it if it fails (full disk, lost database)."""
    while True:
        try:
            await worker.run()
        except Exception:
            log.exception("a worker failed", action="worker_failed", worker=worker.name)
        if stopping.is_set():
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), RESTART_SECONDS)
