"""Logs and metrics of functions and endpoints: written in blocks, read by their routes.

Shared by ``functions`` and ``endpoints``; the tables have a TTL (``ddl/0007``, ``ddl/0008``).
Charts count by hour, day or week in the project's time zone.

Source: docs/spec/hog-functions.md#93-logs, docs/spec/hog-functions.md#94-metrics,
docs/spec/hog-functions.md#95-metricstotals and docs/spec/hog-functions.md#135-limits-logs-metrics;
docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

import msgspec

from hoglet.warehouse.port import QueryBudget, Warehouse
from hoglet.warehouse.values import instant_text

type Interval = Literal["hour", "day", "week"]

LABEL_LIMIT = 10_000  # more than a year of hours
# Times that every zone has a date for.
_FIRST = datetime.min.replace(tzinfo=UTC) + timedelta(days=1)
_LAST = datetime.max.replace(tzinfo=UTC) - timedelta(days=1)

_SQL: dict[str, str] = {
    "hour": "formatDateTime(timestamp, '%Y-%m-%dT%H:00', {timezone:String})",
    "day": "toString(toDate(timestamp, {timezone:String}))",
    "week": "toString(toMonday(timestamp, {timezone:String}))",
}
type Breakdown = Literal["kind", "name"]

DEFAULT_LOGS = 50
_READ = QueryBudget(seconds=10)
_LOG_COLUMNS = (
    "project_id",
    "log_source",
    "log_source_id",
    "instance_id",
    "timestamp",
    "level",
    "message",
)
_METRIC_COLUMNS = (
    "project_id",
    "timestamp",
    "app_source",
    "app_source_id",
    "instance_id",
    "metric_kind",
    "metric_name",
    "count",
)


def sql_label(interval: Interval) -> str:
    """A SQL expression over ``timestamp`` and the parameter ``timezone`` that yields the label."""
    return _SQL[interval]


def labels_between(
    after: datetime, before: datetime, interval: Interval, timezone: str
) -> list[str]:
    """Labels from the start of the interval of ``after`` up to ``before``: the last 10,000.

    Example:
        >>> at = datetime(2026, 1, 7, 12, tzinfo=UTC)
        >>> labels_between(at, at + timedelta(days=7), "week", "UTC")
        ['2026-01-05', '2026-01-12']
    """
    zone = ZoneInfo(timezone)
    after, before = (min(max(at, _FIRST), _LAST) for at in (after, before))
    if interval == "hour":
        return _hours(after, before, zone)
    day = after.astimezone(zone).date()
    last = before.astimezone(zone).date()
    step = 7 if interval == "week" else 1
    if interval == "week":
        day -= timedelta(days=day.weekday())
    count = (last - day).days // step + 1
    latest = range(max(count - LABEL_LIMIT, 0), count)
    return [str(day + timedelta(days=step * index)) for index in latest]


def _hours(after: datetime, before: datetime, zone: ZoneInfo) -> list[str]:
    """Step through hours in UTC, so that a clock change neither skips nor repeats an instant.

    Steps are half hours, because Lord Howe's clocks change by half an hour.
    """
    at = after.astimezone(UTC)
    if before - at > timedelta(hours=LABEL_LIMIT):
        at = before - timedelta(hours=LABEL_LIMIT)
    labels: dict[str, None] = {}
    while at < before:
        labels[_hour(at, zone)] = None
        at += timedelta(minutes=30)
    if after <= before:
        labels[_hour(before, zone)] = None
    return list(labels)[-LABEL_LIMIT:]


def _hour(at: datetime, zone: ZoneInfo) -> str:
    return at.astimezone(zone).strftime("%Y-%m-%dT%H:00")


class LogEntry(msgspec.Struct, frozen=True):
    """One line; ``level`` upper-case, e.g. ``INFO``; ``timestamp`` aware."""

    project_id: int
    source: str
    source_id: str
    instance_id: str
    timestamp: datetime
    level: str
    message: str


class AppMetric(msgspec.Struct, frozen=True):
    """A counter increment, e.g. kind ``success``, name ``succeeded``."""

    project_id: int
    source: str
    source_id: str
    timestamp: datetime
    kind: str
    name: str
    count: int = 1
    instance_id: str = ""


class LogFilters(msgspec.Struct, frozen=True):
    """Selects log lines: ``after`` and ``before`` exclusive, ``levels`` upper-case (empty: all).

    ``search`` is a case-insensitive substring of the message; ``starts_with`` is case-sensitive.
    """

    limit: int = DEFAULT_LOGS
    after: datetime | None = None
    before: datetime | None = None
    levels: Sequence[str] = ()
    search: str | None = None
    instance_id: str | None = None
    starts_with: str | None = None


class MetricFilters(msgspec.Struct, frozen=True):
    """Selects counts: from ``after`` up to ``before``; empty ``names`` and ``kinds`` mean all."""

    after: datetime
    before: datetime
    names: Sequence[str] = ()
    kinds: Sequence[str] = ()
    breakdown_by: Breakdown = "kind"
    instance_id: str | None = None


class CountSeries(msgspec.Struct, frozen=True):
    """``labels`` ``["2024-01-01"]`` and, by name, one count per label."""

    labels: list[str]
    series: dict[str, list[int]] = msgspec.field(default_factory=dict[str, list[int]])

    def as_json(self) -> dict[str, Any]:
        """``{"labels": [...], "series": [{"name": "success", "values": [1]}]}``."""
        named = [{"name": name, "values": values} for name, values in self.series.items()]
        return {"labels": self.labels if named else [], "series": named}


class Telemetry:
    """Log lines and counters in the warehouse."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse

    async def write_logs(
        self, entries: Sequence[LogEntry], *, dedup_token: str | None = None
    ) -> None:
        """Insert lines as one block; a block with the same token is inserted only once."""
        rows = [
            (e.project_id, e.source, e.source_id, e.instance_id, e.timestamp, e.level, e.message)
            for e in entries
        ]
        await self._warehouse.insert("log_entries", _LOG_COLUMNS, rows, dedup_token=dedup_token)

    async def write_metrics(
        self, metrics: Sequence[AppMetric], *, dedup_token: str | None = None
    ) -> None:
        """Insert counts as one block; a block with the same token is inserted only once."""
        rows = [
            (
                m.project_id,
                m.timestamp,
                m.source,
                m.source_id,
                m.instance_id,
                m.kind,
                m.name,
                m.count,
            )
            for m in metrics
        ]
        await self._warehouse.insert("app_metrics", _METRIC_COLUMNS, rows, dedup_token=dedup_token)

    async def read_logs(
        self, project_id: int, source: str, source_id: str, filters: LogFilters
    ) -> list[LogEntry]:
        """Log lines of one function or endpoint, newest first."""
        conditions, params = _log_conditions(filters)
        result = await self._warehouse.query(
            "SELECT instance_id, timestamp, level, message FROM log_entries "  # noqa: S608 (fixed texts)
            "WHERE project_id = {project_id:Int64} AND log_source = {source:String} "
            f"AND log_source_id = {{source_id:String}}{conditions} "
            "ORDER BY timestamp DESC, instance_id DESC LIMIT {limit:UInt32}",
            {"project_id": project_id, "source": source, "source_id": source_id, **params},
            budget=_READ,
        )
        return [
            LogEntry(project_id, source, source_id, instance, timestamp, level, message)
            for instance, timestamp, level, message in result.rows
        ]

    async def read_metrics(
        self,
        project_id: int,
        source: str,
        source_id: str,
        filters: MetricFilters,
        *,
        interval: Interval = "day",
        timezone: str = "UTC",
    ) -> CountSeries:
        """Counts by interval in the project's time zone; gaps are 0, names without data omitted."""
        labels = labels_between(filters.after, filters.before, interval, timezone)
        conditions, params = _metric_conditions(filters)
        result = await self._warehouse.query(
            f"SELECT metric_{filters.breakdown_by} AS name, {sql_label(interval)} AS label, "  # noqa: S608 (fixed texts)
            f"sum(count) FROM app_metrics WHERE {conditions} GROUP BY name, label ORDER BY name",
            {**_metric_source(project_id, source, source_id), **params, "timezone": timezone},
            budget=_READ,
        )
        index_of = {label: index for index, label in enumerate(labels)}
        series: dict[str, list[int]] = {}
        for name, label, count in result.rows:
            if label in index_of:
                series.setdefault(name, [0] * len(labels))[index_of[label]] += count
        return CountSeries(labels, series)

    async def read_totals(
        self, project_id: int, source: str, source_id: str, filters: MetricFilters
    ) -> dict[str, int]:
        """Total counts, e.g. ``{"success": 3, "failure": 1}``."""
        conditions, params = _metric_conditions(filters)
        result = await self._warehouse.query(
            f"SELECT metric_{filters.breakdown_by} AS name, sum(count) FROM app_metrics "  # noqa: S608 (fixed texts)
            f"WHERE {conditions} GROUP BY name ORDER BY name",
            {**_metric_source(project_id, source, source_id), **params},
            budget=_READ,
        )
        return {name: count for name, count in result.rows}  # noqa: C416 (keeps the types)


def _log_conditions(filters: LogFilters) -> tuple[str, dict[str, Any]]:
    parts: list[tuple[str, str, Any]] = [
        ("after", "timestamp > {after:DateTime64(6, 'UTC')}", _instant(filters.after)),
        ("before", "timestamp < {before:DateTime64(6, 'UTC')}", _instant(filters.before)),
        ("levels", "level IN {levels:Array(String)}", list(filters.levels) or None),
        (
            "search",
            "positionCaseInsensitiveUTF8(message, {search:String}) > 0",
            filters.search or None,
        ),
        ("instance_id", "instance_id = {instance_id:String}", filters.instance_id or None),
        ("start", "startsWith(message, {start:String})", filters.starts_with or None),
    ]
    used = [part for part in parts if part[2] is not None]
    conditions = "".join(f" AND {condition}" for _, condition, _ in used)
    return conditions, {"limit": filters.limit} | {name: value for name, _, value in used}


def _metric_conditions(filters: MetricFilters) -> tuple[str, dict[str, Any]]:
    parts: list[tuple[str, str, Any]] = [
        ("after", "timestamp >= {after:DateTime64(6, 'UTC')}", _instant(filters.after)),
        ("before", "timestamp <= {before:DateTime64(6, 'UTC')}", _instant(filters.before)),
        ("names", "metric_name IN {names:Array(String)}", list(filters.names) or None),
        ("kinds", "metric_kind IN {kinds:Array(String)}", list(filters.kinds) or None),
        ("instance_id", "instance_id = {instance_id:String}", filters.instance_id or None),
    ]
    used = [part for part in parts if part[2] is not None]
    fixed = (
        "project_id = {project_id:Int64} AND app_source = {source:String} "
        "AND app_source_id = {source_id:String}"
    )
    conditions = "".join(f" AND {condition}" for _, condition, _ in used)
    return fixed + conditions, {name: value for name, _, value in used}


def _metric_source(project_id: int, source: str, source_id: str) -> dict[str, Any]:
    return {"project_id": project_id, "source": source, "source_id": source_id}


def _instant(at: datetime | None) -> str | None:
    return None if at is None else instant_text(at)
