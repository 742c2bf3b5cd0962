"""The background work of a server: what runs beside the API, and how it stops."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog

from hoglet.app.container import Rooms
from hoglet.app.endpoints import SCHEMA_SECONDS
from hoglet.app.features import Features
from hoglet.pipeline.backfills import BackfillWorker
from hoglet.pipeline.delivery.attempt import Deliveries
from hoglet.pipeline.delivery.completion import EndingCommits
from hoglet.pipeline.delivery.executor import Executor
from hoglet.pipeline.delivery.function_cache import FunctionCache
from hoglet.pipeline.delivery.host_limits import Hosts, HostSettings
from hoglet.pipeline.delivery.run import InvocationRunner
from hoglet.pipeline.delivery.step_batcher import Stepper
from hoglet.pipeline.ingest.commit import GroupCommit
from hoglet.pipeline.ingest.filtered_counts import UnaskedEvents
from hoglet.pipeline.ingest.property_schema import Learning
from hoglet.pipeline.ingest.replication import Copies
from hoglet.pipeline.ingest.sandbox_client import WorkerCalls
from hoglet.pipeline.ingest.worker import BatchWorker
from hoglet.pipeline.internal_events import InternalEventWorker
from hoglet.pipeline.maintenance import Upkeep
from hoglet.pipeline.queue_metrics import QueueGauges
from hoglet.pipeline.recompile import Recompiler
from hoglet.pipeline.telemetry_outbox import TelemetryOutbox

log = structlog.get_logger()

COMPILE_SECONDS = 1.0  # between a query learning the schema and the engine beginning to read
RESTART_SECONDS = 1.0  # after a worker failed


@dataclass
class Worker:
    """A task that runs until it is told to stop, then ends its present work."""

    name: str
    run: Callable[[], Coroutine[Any, Any, None]]
    stop: Callable[[], None]


@asynccontextmanager
async def running(workers: list[Worker]) -> AsyncGenerator[None]:
    """Run the workers beside the block; stop them in order when it ends.

    The order is that of the flow: who is stopped later still takes what the earlier ones leave.
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


def build_workers(rooms: Rooms, features: Features) -> list[Worker]:
    """What the roles of this process ask for."""
    roles = rooms.settings.roles
    outbox = TelemetryOutbox(rooms.database, features.functions.telemetry)
    workers: list[Worker] = []
    if "pipeline" in roles:
        workers += build_pipeline(rooms, features, outbox)
        recompiler = _recompiler(rooms, features)
        workers.append(Worker("recompiler", recompiler.run, recompiler.stop))
    if "executor" in roles:
        executor = _executor(rooms, features)
        workers.append(Worker("executor", executor.run, executor.stop))
    if "api" in roles:
        workers.append(_endpoint_jobs(features))
    if "pipeline" in roles:  # it has the warehouse that is read; an executor's may be its own
        workers.append(Worker("telemetry", outbox.run, outbox.stop))
    return workers


def build_pipeline(rooms: Rooms, features: Features, outbox: TelemetryOutbox) -> list[Worker]:
    """Spool to warehouse and runs; copies of persons; ingestion warnings."""
    copies = Copies(rooms.database, rooms.queue, rooms.warehouse)
    learning = Learning(
        database=rooms.database,
        events=features.events.repository,
        clock=rooms.clock,
        readers_notice_after=timedelta(seconds=SCHEMA_SECONDS + COMPILE_SECONDS),
    )
    committing = GroupCommit(
        database=rooms.database,
        queue=rooms.queue,
        outbox=outbox,
        copies=copies,
        events=features.events.repository,
        letters=features.functions.letters,
        watcher=features.functions.watcher,
        warnings=features.events.warnings,
        learning=learning,
        clock=rooms.clock,
    )
    batches = BatchWorker(
        database=rooms.database,
        queue=rooms.queue,
        warehouse=rooms.warehouse,
        calls=WorkerCalls(rooms.pipeline_sandbox, features.functions.service),
        functions=features.functions.service,
        events=features.events.repository,
        committing=committing,
        learning=learning,
        access=rooms.access,
        clock=rooms.clock,
        site_url=rooms.settings.resolved_site_url(),
    )
    upkeep = Upkeep(
        database=rooms.database,
        warnings=features.events.warnings,
        letters=features.functions.letters,
        gauges=QueueGauges(rooms.database, rooms.queue, rooms.registry),
        unasked=UnaskedEvents(rooms.database, outbox, rooms.clock),
        clock=rooms.clock,
    )
    backfills = BackfillWorker(
        queue=rooms.queue,
        database=rooms.database,
        warehouse=rooms.warehouse,
        functions=features.functions.service,
        access=rooms.access,
        clock=rooms.clock,
        site_url=rooms.settings.resolved_site_url(),
    )
    internal = InternalEventWorker(
        queue=rooms.queue,
        sandbox=rooms.pipeline_sandbox,
        functions=features.functions.service,
        committing=committing,
        access=rooms.access,
        site_url=rooms.settings.resolved_site_url(),
    )
    return [
        Worker("internal events", internal.run, internal.stop),
        Worker("backfills", backfills.run, backfills.stop),
        Worker("batches", batches.run, batches.stop),
        Worker("copies", copies.run, copies.stop),
        Worker("upkeep", upkeep.run, upkeep.stop),
    ]


def _recompiler(rooms: Rooms, features: Features) -> Recompiler:
    return Recompiler(
        queue=rooms.queue,
        database=rooms.database,
        functions=features.functions.service,
        access=rooms.access,
        clock=rooms.clock,
    )


def _endpoint_jobs(features: Features) -> Worker:
    """Beside the API, because background runs and builds refresh what the API remembers."""
    stopping = asyncio.Event()
    jobs = features.endpoints.jobs

    async def run() -> None:
        await jobs.run_until(stopping)

    return Worker("endpoints", run, stopping.set)


def _executor(rooms: Rooms, features: Features) -> Executor:
    functions, settings = features.functions, rooms.settings
    limits = HostSettings(
        concurrency=settings.host_concurrency, per_second=settings.host_requests_per_second
    )
    hosts = Hosts(rooms.clock, limits)
    return Executor(
        database=rooms.database,
        queue=rooms.queue,
        endings=EndingCommits(
            database=rooms.database,
            queue=rooms.queue,
            endings=functions.run_endings,
            clock=rooms.clock,
        ),
        functions=FunctionCache(functions.service),
        runner=InvocationRunner(
            Stepper(rooms.run_sandbox),
            Deliveries(functions.calls, rooms.clock),
            hosts,
            rooms.clock,
        ),
        hosts=hosts,
        clock=rooms.clock,
    )


async def _guarded(worker: Worker, stopping: asyncio.Event) -> None:
    """A worker that fails (a full disk, a database that went away) is started again."""
    while True:
        try:
            await worker.run()
        except Exception:
            log.exception("a worker failed", action="worker_failed", worker=worker.name)
        if stopping.is_set():
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), RESTART_SECONDS)
