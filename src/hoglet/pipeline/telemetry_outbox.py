"""The telemetry outbox: logs and metrics, written with their commit and delivered later.

The warehouse cannot join a transaction of the metadata database. So the commit that finishes a job
writes its logs and metrics to a table, from which they are moved in blocks. A block's deduplication
token is stored before it is inserted: after a crash the same rows are inserted with the same token,
and the warehouse keeps them once. Source: docs/adr/0003-one-transaction.md.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec
import structlog
from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.logs.telemetry import LOG_SOURCE
from hoglet.kit.clock import new_id, until_tick
from hoglet.kit.errors import HogletError
from hoglet.kit.json import pack
from hoglet.pipeline.health import PipelineHealth
from hoglet.pipeline.tables import TelemetryRow
from hoglet.store.database import ChangeMark, Database
from hoglet.warehouse.telemetry import AppMetric, LogEntry, Telemetry

log = structlog.get_logger()

ROWS_PER_FLUSH = 500  # rows; each has the logs and metrics of one commit of many events or runs
BYTES_PER_FLUSH = 16 * 1024 * 1024  # limits a flush after an outage of the warehouse
PAUSE_SECONDS = 0.5
IDLE_SECONDS = 1.0  # as long as other consumers, so that an idle server wakes up for all at once
RETRY_SECONDS = 5.0


class TelemetryBatch(msgspec.Struct):
    """The telemetry of one commit: fill it, then pass it to :meth:`TelemetryOutbox.add`."""

    logs: list[LogEntry] = msgspec.field(default_factory=list[LogEntry])
    metrics: list[AppMetric] = msgspec.field(default_factory=list[AppMetric])

    def count(
        self,
        project_id: int,
        function_id: str,
        kind: str,
        name: str,
        at: datetime,
        *,
        instance_id: str = "",
    ) -> None:
        """Increment a function's metric; ``instance_id`` is the run's id if it belongs to a run."""
        self.metrics.append(
            AppMetric(project_id, LOG_SOURCE, function_id, at, kind, name, instance_id=instance_id)
        )


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(TelemetryBatch)


class TelemetryOutbox:
    """The outbox table and the task that empties it.

    Concurrency: one flusher runs at a time (the pipeline role starts it).
    """

    def __init__(
        self, database: Database, telemetry: Telemetry, health: PipelineHealth | None = None
    ) -> None:
        self._health = health
        self._database = database
        self._telemetry = telemetry
        self._stopping = asyncio.Event()
        self._added = asyncio.Event()
        self._empty_at: ChangeMark | None = None
        self._left_some = False

    async def add(self, session: AsyncSession, messages: TelemetryBatch) -> None:
        """Write telemetry in the caller's transaction."""
        if messages.logs or messages.metrics:
            messages.metrics = together(messages.metrics)
            session.add(TelemetryRow(payload=pack(_encoder, messages)))
            self._added.set()

    async def run(self) -> None:
        """Move telemetry until :meth:`stop`, then once more, so that a clean stop leaves none."""
        while not self._stopping.is_set():
            is_idle = False
            pause = PAUSE_SECONDS
            try:
                mark = self._database.change_mark()
                is_idle = mark is not None and mark == self._empty_at
                if not is_idle:
                    while await self.flush() and self._left_some:
                        pass
                    self._empty_at = mark  # later commits leave another mark
                if self._health is not None:
                    self._health.works("telemetry")
            except HogletError as error:
                log.warning("writing telemetry failed", action="outbox", error=error.detail)
                pause = RETRY_SECONDS
                if self._health is not None:
                    self._health.failed("telemetry", error)
            if is_idle:
                await _wait(self._added, IDLE_SECONDS)
            if self._added.is_set() or not is_idle:
                self._added.clear()
                await _wait(self._stopping, pause)
        while await self.flush():
            pass

    def stop(self) -> None:
        """Make :meth:`run` return."""
        self._stopping.set()
        self._added.set()

    async def flush(self) -> int:
        """Move one block; returns the number of rows, 0 if nothing waits.

        Idempotency: a block is inserted once, even if the flush is interrupted.
        """
        if not await self._has_rows():
            return 0
        self._left_some = True  # unless a new block takes all rows
        token = await self._unfinished() or await self._name_block()
        async with self._database.read() as session:
            query = select(TelemetryRow.payload).where(TelemetryRow.flush == token)
            payloads = (await session.scalars(query.order_by(TelemetryRow.id))).all()
        messages = [_decoder.decode(payload) for payload in payloads]
        logs = [entry for message in messages for entry in message.logs]
        metrics = together([metric for message in messages for metric in message.metrics])
        if logs:
            await self._telemetry.write_logs(logs, dedup_token=str(token))
        if metrics:
            await self._telemetry.write_metrics(metrics, dedup_token=str(token))
        async with self._database.write() as session:
            await session.execute(delete(TelemetryRow).where(TelemetryRow.flush == token))
        return len(payloads)

    async def _has_rows(self) -> bool:
        async with self._database.read() as session:
            return await session.scalar(select(TelemetryRow.id).limit(1)) is not None

    async def _unfinished(self) -> UUID | None:
        """A block that was assigned before a crash."""
        async with self._database.read() as session:
            query = select(TelemetryRow.flush).where(TelemetryRow.flush.is_not(None)).limit(1)
            return await session.scalar(query)

    async def _name_block(self) -> UUID:
        size = func.length(TelemetryRow.payload)
        waiting = select(TelemetryRow.id, size).where(TelemetryRow.flush.is_(None))
        oldest = waiting.order_by(TelemetryRow.id).limit(ROWS_PER_FLUSH)
        token = new_id()
        async with self._database.write() as session:
            rows = [(row[0], row[1]) for row in await session.execute(oldest)]
            ids = _fitting(rows)
            self._left_some = len(ids) < len(rows) or len(rows) == ROWS_PER_FLUSH
            # Another process may have assigned some of them meanwhile.
            free = TelemetryRow.id.in_(ids) & TelemetryRow.flush.is_(None)
            await session.execute(update(TelemetryRow).where(free).values(flush=token))
        return token


def _fitting(rows: Sequence[tuple[int, int]]) -> list[int]:
    """The first ids of ``(id, bytes)`` that fit into a block; a larger row is a block by itself."""
    sizes = itertools.accumulate(size for _, size in rows)
    fitting = sum(1 for size in sizes if size <= BYTES_PER_FLUSH)
    return [row_id for row_id, _ in rows[: max(fitting, 1)]]


def together(metrics: Sequence[AppMetric]) -> list[AppMetric]:
    """Sum the counts of metrics that are otherwise equal, with times rounded down to seconds.

    Metrics of single runs stay as they are.
    """
    alone = [metric for metric in metrics if metric.instance_id]
    counts: Counter[tuple[int, str, str, datetime, str, str]] = Counter()
    for metric in metrics:
        if not metric.instance_id:
            second = metric.timestamp.replace(microsecond=0)
            counts[
                metric.project_id,
                metric.source,
                metric.source_id,
                second,
                metric.kind,
                metric.name,
            ] += metric.count
    return [*(AppMetric(*key, count) for key, count in counts.items()), *alone]


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), until_tick(seconds))
    except TimeoutError:
        return
