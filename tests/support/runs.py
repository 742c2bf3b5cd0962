"""An executor with real parts, for ``tests/contract/functions``."""

import asyncio
import contextlib
import threading
import time
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple
from uuid import UUID, uuid5

import msgspec
from prometheus_client import CollectorRegistry
from sqlalchemy import select

from hoglet.functions.integrations.credentials import Credentials
from hoglet.functions.jobs import INVOKE_QUEUE, InvokeV1, encode, line_of
from hoglet.functions.loader import FunctionCache
from hoglet.functions.runtime.host_calls import HostCalls
from hoglet.outbound.client import Outbound
from hoglet.pipeline.delivery import ordering as lines
from hoglet.pipeline.delivery.attempt import HostCallAttempts
from hoglet.pipeline.delivery.completion import CompletionBatcher, CompletionWriter, DeliveryMetrics
from hoglet.pipeline.delivery.executor import DeliveryStages, Executor
from hoglet.pipeline.delivery.host_limits import HostLimiter, HostSettings
from hoglet.pipeline.delivery.run import InvocationRunner
from hoglet.pipeline.delivery.step_batcher import StepBatcher
from hoglet.pipeline.tables import TelemetryRow
from hoglet.pipeline.telemetry_outbox import (
    TelemetryBatch,
    TelemetryOutbox,
    _decoder,
)
from hoglet.queue import NewJob, Priority
from hoglet.warehouse.telemetry import LogEntry, Telemetry
from support.local_http import Handler, LocalHttp
from support.sandboxes import shared_sandbox

_NAMESPACE = UUID("0193e8c6-0000-7000-8000-000000000000")


class Arrival(NamedTuple):
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    at: float


class ScriptedReceiver(LocalHttp):
    """Sends scripted responses: ``script[path]`` is a list of ``(status, headers)``, then 200s.

    ``seconds`` is how long every response takes; with ``in_turn``, each after the one before. A
    status of 0 closes the connection.
    """

    def __init__(self) -> None:
        self.script: dict[str, list[tuple[int, dict[str, str]]]] = defaultdict(list)
        self.arrivals: list[Arrival] = []
        self.seconds = 0.0
        self.in_turn = False
        self.under_way = self.most_under_way = 0
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        receiver = self

        class Scripted(Handler):
            def handle_any(self) -> None:
                self.body()
                status, headers = receiver.arrived(
                    Arrival(self.path, self.names(), time.monotonic())
                )
                if status == 0:
                    self.connection.close()
                    return
                self.answer(status, headers=headers)

        super().__init__(Scripted)

    def arrived(self, arrival: Arrival) -> tuple[int, dict[str, str]]:
        """Record a request and return its scripted response after the delay."""
        with self._lock:
            self.under_way += 1
            self.most_under_way = max(self.under_way, self.most_under_way)
            self.arrivals.append(arrival)
            planned = self.script[arrival.path]
            answer = planned.pop(0) if planned else (200, dict[str, str]())
        with self._turn if self.in_turn else contextlib.nullcontext():
            time.sleep(self.seconds)
        with self._lock:
            self.under_way -= 1
        return answer

    def paths(self) -> list[str]:
        """The requests in order of arrival."""
        return [arrival.path for arrival in self.arrivals]


class Runs:
    """Runs functions of a :class:`Hoglet` application; ``restart`` forgets all but the database."""

    def __init__(self, hoglet: Any, limits: HostSettings | None = None) -> None:
        self.hoglet = hoglet
        self._limits = limits
        self.sandbox = shared_sandbox("runs")
        self._outbound = Outbound(allow_hosts=["127.0.0.1"])

    async def open(self) -> None:
        await self.restart()

    async def close(self) -> None:
        await self._outbound.close()

    async def restart(self) -> None:
        """A new executor, as after a kill; leases of the old one are released."""
        hoglet, clock = self.hoglet, self.hoglet.clock
        await hoglet.queue.reclaim()
        self.hosts = HostLimiter(clock, self._limits)
        credentials = Credentials(self._outbound, hoglet.database, hoglet.service.box)
        calls = HostCalls(credentials, None)
        writer = CompletionWriter(
            queue=hoglet.queue,
            outbox=TelemetryOutbox(hoglet.database, Telemetry(None)),  # pyright: ignore[reportArgumentType]
            dead_letters=hoglet.app.state.dead_letters,
            watcher=hoglet.service.watcher,
            clock=clock,
        )
        self.completion = CompletionBatcher(
            database=hoglet.database,
            queue=hoglet.queue,
            writer=writer,
            metrics=DeliveryMetrics(CollectorRegistry()),
            clock=clock,
        )
        self.executor = Executor(
            database=hoglet.database,
            queue=hoglet.queue,
            clock=clock,
            stages=DeliveryStages(
                completions=self.completion,
                functions=FunctionCache(hoglet.service.loader),
                runner=InvocationRunner(
                    StepBatcher(self.sandbox),
                    HostCallAttempts(calls, clock, chance=lambda: 1.0),
                    self.hosts,
                    clock,
                ),
                hosts=self.hosts,
            ),
        )
        await self.executor._read_pauses()

    async def trigger(
        self,
        function: dict[str, Any],
        *events: str,
        distinct_id: str = "ada",
        start: dict[str, Any] | None = None,
        **properties: Any,
    ) -> list[UUID]:
        """Enqueue a run for each event name, in order if the function is ordered.

        ``start`` holds other fields of the runs, such as ``start_at``.
        """
        ids = [uuid5(_NAMESPACE, f"{function['id']} {name} {distinct_id}") for name in events]
        is_ordered = (function.get("delivery") or {}).get("ordered_by")
        backfill = str((start or {}).get("backfill_id") or "")
        line = line_of(function["id"], distinct_id, backfill) if is_ordered else None
        jobs = [
            NewJob(
                queue=INVOKE_QUEUE,
                payload=encode(
                    msgspec.structs.replace(
                        self._invoke(function, run, name, distinct_id, properties), **start or {}
                    )
                ),
                id=run,
                priority=Priority.NORMAL,
                ordering_key=line,
                lane=function["id"],
            )
            for run, name in zip(ids, events, strict=True)
        ]
        async with self.hoglet.database.write() as session:
            await lines.enqueue(session, self.hoglet.queue, jobs)
        return ids

    def _invoke(
        self, function: Any, run: UUID, name: str, distinct_id: str, properties: Any
    ) -> InvokeV1:
        event = {
            "uuid": str(run), "event": name, "distinct_id": distinct_id, "properties": properties,
            "timestamp": "2026-01-05T12:00:00Z", "url": "http://hoglet/e",
        }  # fmt: skip
        return InvokeV1(
            project_id=1,
            function_id=UUID(function["id"]),
            invocation_id=run,
            globals={"project": {"id": 1, "name": "p", "url": "http://hoglet"}, "event": event},
        )

    async def work(self) -> None:
        """Run everything that is due."""
        while self.executor._running or await self.executor._lease_some():
            if self.executor._running:
                await asyncio.wait(list(self.executor._running))

    async def work_for(self, seconds: float, step: float = 0.5) -> None:
        """Advance the clock in steps and run what becomes due."""
        passed = 0.0
        while passed < seconds:
            await self.work()
            self.hoglet.clock.advance(seconds=step)
            passed += step
        await self.work()

    async def messages(self) -> TelemetryBatch:
        """The log lines and metrics written so far."""
        all_of_them = TelemetryBatch()
        async with self.hoglet.database.read() as session:
            rows = await session.scalars(select(TelemetryRow).order_by(TelemetryRow.id))
            for row in rows:
                batch = _decoder.decode(row.payload)
                all_of_them.logs.extend(batch.logs)
                all_of_them.metrics.extend(batch.metrics)
        return all_of_them

    async def lines_of_log(self, level: str = "") -> list[LogEntry]:
        """The log lines, optionally of one level."""
        return [entry for entry in (await self.messages()).logs if level in ("", entry.level)]

    async def counts(self) -> dict[str, int]:
        """``{"success/succeeded": 1}`` so far."""
        counts: dict[str, int] = defaultdict(int)
        for metric in (await self.messages()).metrics:
            counts[f"{metric.kind}/{metric.name}"] += metric.count
        return dict(counts)


@asynccontextmanager
async def open_runs(hoglet: Any, limits: HostSettings | None = None) -> AsyncGenerator[Runs]:
    """Runs of an application; its connections are closed at the end."""
    runs = Runs(hoglet, limits)
    await runs.open()
    try:
        yield runs
    finally:
        await runs.close()
