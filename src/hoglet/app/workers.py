"""The background work of a server: what runs beside the API, and how it stops."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import structlog

from hoglet.app.features import Features
from hoglet.app.rooms import Rooms
from hoglet.pipeline.commits import GroupCommits
from hoglet.pipeline.delivery import Deliveries
from hoglet.pipeline.executor import Executor
from hoglet.pipeline.function_cache import FunctionCache
from hoglet.pipeline.invocation import InvocationRunner
from hoglet.pipeline.outbox import TelemetryOutbox

log = structlog.get_logger()


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
    tasks = [asyncio.create_task(_guarded(worker), name=worker.name) for worker in workers]
    try:
        yield
    finally:
        for worker, task in zip(workers, tasks, strict=True):
            worker.stop()
            await task


def build_workers(rooms: Rooms, features: Features) -> list[Worker]:
    """What the roles of this process ask for."""
    roles = rooms.settings.roles
    outbox = TelemetryOutbox(rooms.database, features.functions.telemetry)
    workers: list[Worker] = []
    if "executor" in roles:
        executor = _executor(rooms, features, outbox)
        workers.append(Worker("executor", executor.run, executor.stop))
    if {"executor", "pipeline"} & set(roles):
        workers.append(Worker("telemetry", outbox.run, outbox.stop))
    return workers


def _executor(rooms: Rooms, features: Features, outbox: TelemetryOutbox) -> Executor:
    functions = features.functions
    return Executor(
        queue=rooms.queue,
        commits=GroupCommits(rooms.database),
        functions=FunctionCache(functions.service),
        runner=InvocationRunner(
            rooms.run_sandbox, Deliveries(rooms.outbound, rooms.clock), rooms.clock
        ),
        outbox=outbox,
        letters=functions.letters,
        watcher=functions.watcher,
        clock=rooms.clock,
    )


async def _guarded(worker: Worker) -> None:
    """A worker never ends by itself; if one does, say so loudly rather than stand still."""
    try:
        await worker.run()
    except Exception:
        log.exception("a worker stopped", action="worker_failed", worker=worker.name)
        raise
