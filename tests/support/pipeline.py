"""A pipeline with a real database, embedded warehouse and worker process."""

import contextlib
from collections.abc import AsyncGenerator
from datetime import datetime, timedelta
from typing import Any

import msgspec
import orjson
from prometheus_client import CollectorRegistry
from sqlalchemy import update

from hoglet.access.auth import AccessService
from hoglet.definitions.tracker import DefinitionTracker
from hoglet.events.log_writer import LogWriter
from hoglet.events.repository import EventsRepository
from hoglet.events.spool import SpooledV1, job_of
from hoglet.events.warnings import IngestionWarnings
from hoglet.functions.dead_letters.service import NewDeadLetter
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.watcher.service import Watcher
from hoglet.kit.clock import Clock, new_id
from hoglet.pipeline.health import PipelineHealth
from hoglet.pipeline.ingest.commit import FunctionReports, GroupCommitter, ProjectState
from hoglet.pipeline.ingest.group_processor import (
    DEADLINE_SECONDS,
    GroupProcessor,
    PipelineSandboxClient,
)
from hoglet.pipeline.ingest.group_writer import GroupStages
from hoglet.pipeline.ingest.metrics import IngestMetrics
from hoglet.pipeline.ingest.replication import WarehouseReplicator
from hoglet.pipeline.ingest.sources import GroupLimits, JobSource
from hoglet.pipeline.ingest.spool_log.losses import SpoolLosses
from hoglet.pipeline.ingest.spool_log.ranges import LogRanges
from hoglet.pipeline.ingest.spool_log.source import LogSource
from hoglet.pipeline.ingest.worker import BatchWorker, IngestMonitoring, ProjectSources
from hoglet.pipeline.lost_writes import LostWrites
from hoglet.pipeline.telemetry_outbox import TelemetryOutbox
from hoglet.queue.port import Job
from hoglet.queue.sql import SqlQueue
from hoglet.sandbox import Sandbox
from hoglet.sandbox.pool import WORKER_MEMORY_BYTES
from hoglet.spool import NamedLog, SpoolLog
from hoglet.spool.owners import PartitionOwner
from hoglet.spool.positions import create_partitions
from hoglet.spool.rows import RowLog
from hoglet.spool.tables import SpoolPositionRow
from hoglet.store.database import Database
from hoglet.warehouse.port import Warehouse
from hoglet.warehouse.telemetry import LogEntry, Telemetry
from support.sandboxes import shared_sandbox

LOG, PARTITIONS = "rows", 4


class GivenFunctions:
    """Functions from a list that the test sets."""

    def __init__(self) -> None:
        self.functions: list[ExecutableFunction] = []

    async def version_stamp(self, project_id: int) -> str:
        return f"{project_id}:{len(self.functions)}:{id(self.functions)}"

    async def load_runnable(self, project_id: int, kinds: Any) -> list[ExecutableFunction]:
        # Workers keep what they compiled by id and version, and tests use the same ids.
        return [
            msgspec.structs.replace(function, version=project_id)
            for function in self.functions
            if function.type in kinds
        ]


class RecordedDeadLetters:
    """Dead letters in memory."""

    def __init__(self) -> None:
        self.recorded: list[NewDeadLetter] = []

    async def add(self, _session: Any, dead_letters: list[NewDeadLetter]) -> list[LogEntry]:
        self.recorded.extend(dead_letters)
        return []


class Line:
    """A complete pipeline for one project."""

    def __init__(
        self,
        database: Database,
        warehouse: Warehouse,
        clock: Clock,
        project_id: int,
        *,
        memory_bytes: int = WORKER_MEMORY_BYTES,
        deadline: float = DEADLINE_SECONDS,
        limits: GroupLimits | None = None,
        shares_workers: bool = True,
        uses_log: bool | None = None,
        spool_log: SpoolLog | None = None,
        keep_seconds: int = 0,
    ) -> None:
        """On PostgreSQL, captured events go through the spool log by default, as in a server."""
        self.database = database
        self.warehouse = warehouse
        self.clock = clock
        self.project_id = project_id
        self.queue = SqlQueue(database, clock)
        self.registry = CollectorRegistry()
        self.functions = GivenFunctions()
        self.dead_letters: Any = RecordedDeadLetters()
        self.events = EventsRepository()
        if shares_workers:
            self.sandbox = shared_sandbox("pipeline", memory_bytes)
            self.spare = shared_sandbox("pipeline", 2 << 30)
        else:
            self.sandbox = Sandbox(workers=1, memory_bytes=memory_bytes)
            self.spare = Sandbox(workers=1, memory_bytes=2 << 30)
        self.copies = WarehouseReplicator(database, self.queue, warehouse)
        self.outbox = TelemetryOutbox(database, Telemetry(warehouse))
        self.warnings = IngestionWarnings(database, self.events, clock)
        access = AccessService(database, clock)
        self.definitions = DefinitionTracker(
            database=database,
            clock=clock,
            readers_notice_after=timedelta(0),
        )
        self.calls = PipelineSandboxClient(self.sandbox, self.spare, self.functions, deadline)
        self.health = PipelineHealth(CollectorRegistry())
        self.committer = GroupCommitter(
            database=database,
            queue=self.queue,
            clock=clock,
            state=ProjectState(self.events, self.copies, self.definitions),
            reports=FunctionReports(
                self.dead_letters, Watcher(clock, access.activity), self.outbox
            ),
            warnings=self.warnings,
        )
        processor = GroupProcessor(self.calls, database, self.events)
        self.spool_log = spool_log or RowLog(database)
        self.lost_writes = LostWrites(self.registry, clock)
        self.owner = PartitionOwner(
            database,
            clock,
            name=str(new_id()),
            log_name=LOG,
            on_lost_commits=lambda: self.lost_writes.report("database"),
        )
        self.losses = SpoolLosses(database, self.warnings, self.registry, self.clock)
        ranges = LogRanges(
            NamedLog(LOG, self.spool_log, keep_seconds),
            self.owner,
            database,
            self.queue,
            self.losses,
        )
        self.log_source = LogSource(self.spool_log, ranges)
        self.uses_log = not database.is_sqlite if uses_log is None else uses_log
        self.writer = LogWriter(self.spool_log, PARTITIONS)
        self.batches = BatchWorker(
            sources=[
                *([self.log_source] if self.uses_log else []),
                JobSource(self.queue, database, clock),
            ],
            stages=GroupStages(
                processor, self.definitions, warehouse, self.committer, self.lost_writes
            ),
            projects=ProjectSources(access, self.functions, "https://hoglet.example"),
            monitoring=IngestMonitoring(self.health, IngestMetrics(self.registry)),
            limits=limits,
        )

    def forget_definitions(self) -> None:
        """Forget everything in memory, like a new process."""
        self.definitions.forget()

    async def capture(self, *events: dict[str, Any], historical: bool = False) -> None:
        """Spool a batch."""
        body = orjson.dumps({"batch": list(events), "historical_migration": historical})
        spooled = SpooledV1(
            project_id=self.project_id, received_at=self.clock.now(), ip="9.8.7.6", body=body
        )
        if self.uses_log:
            await self.own_partitions()
            entries, _ = self.writer.prepare(spooled, events)
            await self.writer.write([entries])
            return
        async with self.database.write() as session:
            await self.queue.enqueue(session, [job_of(spooled, events=len(events))])

    async def own_partitions(self) -> None:
        """Take over all partitions, as a server does at startup or after another one died."""
        if self.uses_log and not self.owner.owned:
            async with self.database.write() as session:
                await session.execute(update(SpoolPositionRow).values(owner=None))
            await create_partitions(self.database, LOG, PARTITIONS)
            await self.owner.divide()

    async def work(self) -> None:
        """Process everything that is queued."""
        await self.own_partitions()
        while await self.batches.work_once():
            pass
        while await self.copies.flush():
            pass
        while await self.outbox.flush():
            pass

    async def select(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows of a statement; ``{p}`` is the project id."""
        answer = await self.warehouse.query(sql.replace("{p}", str(self.project_id)))
        return [tuple(row) for row in answer.rows]

    async def runs(self) -> list[Job]:
        """The queued runs."""
        from datetime import timedelta

        from hoglet.functions.jobs import INVOKE_QUEUE

        return await self.queue.lease(INVOKE_QUEUE, limit=1000, duration=timedelta(minutes=1))

    async def counts(self, function_id: str) -> dict[str, int]:
        """Metrics of a function by name."""
        rows = await self.select(
            "SELECT metric_name, sum(count) FROM app_metrics WHERE project_id = {p} "
            f"AND app_source_id = '{function_id}' GROUP BY metric_name"
        )
        return dict(rows)


@contextlib.asynccontextmanager
async def open_line(
    database: Database, warehouse: Warehouse, clock: Clock, project_id: int, **more: Any
) -> AsyncGenerator[Line]:
    """A pipeline; ``more`` are arguments of :class:`Line`."""
    line = Line(database, warehouse, clock, project_id, **more)
    try:
        yield line
    finally:
        if not more.get("shares_workers", True):
            await line.sandbox.close()
            await line.spare.close()


def at(text: str) -> datetime:
    """``at("2026-05-01T12:00:00+00:00")``."""
    return datetime.fromisoformat(text)
