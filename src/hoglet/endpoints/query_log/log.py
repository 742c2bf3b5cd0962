"""The query log: a row and a log line per run, written in blocks; and the times of last runs.

Runs are many and short, so nothing is written before the response. A killed process loses up to
``FLUSH_SECONDS`` of log lines.

Source: docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation (logs),
docs/spec/query-endpoints.md#9-last_execution_times and
docs/spec/query-endpoints.md#101-tables-and-columns (query_log).
"""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, override
from uuid import UUID

import msgspec
import structlog
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.exc import OperationalError

from hoglet.endpoints import repository
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.schemas import RunRequest
from hoglet.kit.clock import until_tick
from hoglet.kit.errors import HogletError
from hoglet.store.database import Database
from hoglet.warehouse import Warehouse
from hoglet.warehouse.telemetry import LogEntry, Telemetry
from hoglet.web.request_log import TimeBuckets

logger = structlog.get_logger(__name__)

LOG_SOURCE = "endpoint"
FLUSH_SECONDS = 2.0
MAX_WAITING = 20_000  # lines buffered while the warehouse is down; the oldest are dropped first
_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_COLUMNS = (
    "project_id",
    "query_id",
    "endpoint",
    "version",
    "name",
    "query",
    "event_time",
    "query_start_time",
    "query_duration_ms",
    "read_rows",
    "read_bytes",
    "result_rows",
    "status",
    "exception",
    "is_cached",
    "is_materialized",
    "created_by",
    "is_personal_api_key_request",
)


def message_start(version: int) -> str:
    """The prefix of a version's log messages, for filtering."""
    return f"Run of version {version} "


class QueryLogEntry(msgspec.Struct, frozen=True):
    """A finished run of an endpoint, or of an ad hoc query (``endpoint_id`` None).

    ``execution_id`` is a UUID as text; ``error`` is the error message.
    """

    project_id: int
    endpoint_id: UUID | None
    name: str
    version: int
    query: str
    execution_id: str
    query_id: str
    started_at: datetime
    seconds: float = 0.0
    rows: int = 0
    rows_read: int = 0
    bytes_read: int = 0
    is_cached: bool = False
    is_materialized: bool = False
    user_id: int | None = None
    error: str | None = None

    @classmethod
    def of(
        cls,
        target: RunTarget,
        request: RunRequest,
        *,
        execution_id: str,
        started_at: datetime,
        user_id: int | None,
    ) -> "QueryLogEntry":
        """The entry of a run, without its outcome."""
        return cls(
            project_id=target.project_id,
            endpoint_id=target.endpoint_id if target.version else None,
            name=target.name,
            version=target.version,
            query=target.query.get("query") or target.query["kind"],
            execution_id=execution_id,
            query_id=request.client_query_id or execution_id,
            started_at=started_at,
            user_id=user_id,
        )

    def message(self) -> str:
        """The log line."""
        path = "materialized" if self.is_materialized else "inline"
        cache = "hit" if self.is_cached else "miss"
        took = f"{self.seconds * 1000:.1f} ms"
        start = message_start(self.version)
        if self.error is not None:
            return f"{start}failed after {took} ({path}): {self.error}"
        return f"{start}took {took}: path {path}, cache {cache}, {self.rows} rows"


class QueryMetrics(Collector):
    """Prometheus metrics of all queries, from endpoints and the query API.

    Concurrency: counted by one thread.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        # All from 0: Prometheus does not count the first sample of a series as an increase.
        self._counts: dict[str, int] = dict.fromkeys(("cache", "table", "engine", "error"), 0)
        self._times = TimeBuckets(_BUCKETS_S)
        registry.register(self)

    def observe(self, entry: QueryLogEntry) -> None:
        """Record a query."""
        self._counts[_answered(entry)] += 1
        self._times.observe(entry.seconds)

    @override
    def collect(self) -> Iterable[Metric]:
        """The metrics as they are now."""
        count = CounterMetricFamily(
            "hoglet_queries",
            "Queries by source of the result: cache, table (materialized), engine or error.",
            labels=("answered",),
        )
        for answered, number in list(self._counts.items()):
            count.add_metric((answered,), number)
        time_taken = HistogramMetricFamily(
            "hoglet_query_seconds", "Time of a query from request to result."
        )
        time_taken.add_metric((), self._times.buckets(), self._times.total)
        return (count, time_taken)


def _answered(entry: QueryLogEntry) -> str:
    if entry.error is not None:
        return "error"
    if entry.is_cached:
        return "cache"
    return "table" if entry.is_materialized else "engine"


class QueryLog:
    """Buffers entries and writes them every ``FLUSH_SECONDS``."""

    def __init__(
        self, warehouse: Warehouse, database: Database, registry: CollectorRegistry
    ) -> None:
        self._warehouse = warehouse
        self._metrics = QueryMetrics(registry)
        self._telemetry = Telemetry(warehouse)
        self._database = database
        self._entries: list[QueryLogEntry] = []
        self._lines: list[LogEntry] = []  # lines whose entries are already in the query log
        self._executions: dict[UUID, tuple[UUID, UUID, datetime]] = {}
        self._writing = asyncio.Lock()

    def add(self, entry: QueryLogEntry) -> None:
        """Buffer an entry; returns at once."""
        self._entries.append(entry)
        self._metrics.observe(entry)
        if len(self._entries) > MAX_WAITING:
            del self._entries[: MAX_WAITING // 10]

    def executed(self, endpoint_id: UUID, version_id: UUID, at: datetime) -> None:
        """Record that a version was run; returns at once."""
        self._executions[version_id] = (endpoint_id, version_id, at)

    async def flush(self) -> None:
        """Write buffered entries, so that readers see them."""
        async with self._writing:
            await self._write_executions()
            await self._flush_entries()
            await self._flush_lines()

    async def run_until(self, stopping: asyncio.Event) -> None:
        """Write periodically, and once more at the end."""
        while not stopping.is_set():
            try:
                async with asyncio.timeout(until_tick(FLUSH_SECONDS)):
                    await stopping.wait()
            except TimeoutError:
                pass
            try:
                await self.flush()
            except Exception as error:  # noqa: BLE001 (kept and tried again)
                logger.warning(
                    "writing the query log failed", action="run_log_failed", error=str(error)
                )

    async def flush_executions(self) -> None:
        """Write when endpoints last ran; does not need the warehouse."""
        async with self._writing:
            await self._write_executions()

    async def _write_executions(self) -> None:
        waiting, self._executions = self._executions, {}
        if not waiting:
            return
        newest = sorted(waiting.values(), key=lambda each: each[2])
        try:
            async with self._database.write() as session:
                await repository.note_executions(session, newest)
        except OperationalError:  # reads must work while the storage is full or read-only
            logger.warning("last_executed_at was not updated", action="execution_not_noted")
            self._executions = waiting | self._executions

    async def _flush_entries(self) -> None:
        entries, self._entries = self._entries, []
        if not entries:
            return
        try:
            await self._warehouse.insert("query_log", _COLUMNS, [_row(entry) for entry in entries])
        except HogletError:
            self._entries = entries + self._entries
            raise
        self._lines = [*self._lines, *_lines(entries)][-MAX_WAITING:]

    async def _flush_lines(self) -> None:
        """Write the log lines, separately: a retry of failed lines must not count runs twice."""
        lines, self._lines = self._lines, []
        try:
            await self._telemetry.write_logs(lines)
        except HogletError:
            self._lines = lines
            raise


def _row(entry: QueryLogEntry) -> Sequence[Any]:
    return (
        entry.project_id,
        entry.query_id,
        "" if entry.endpoint_id is None else entry.name,
        entry.version,
        entry.name,
        entry.query,
        entry.started_at,
        entry.started_at,
        round(entry.seconds * 1000),
        entry.rows_read,
        entry.bytes_read,
        entry.rows,
        "QueryFinish" if entry.error is None else "ExceptionWhileProcessing",
        entry.error or "",
        int(entry.is_cached),
        int(entry.is_materialized),
        entry.user_id or 0,
        1,
    )


def _lines(entries: Sequence[QueryLogEntry]) -> list[LogEntry]:
    return [
        LogEntry(
            entry.project_id,
            LOG_SOURCE,
            str(entry.endpoint_id),
            entry.execution_id,
            entry.started_at,
            "INFO" if entry.error is None else "ERROR",
            entry.message(),
        )
        for entry in entries
        if entry.endpoint_id is not None
    ]
