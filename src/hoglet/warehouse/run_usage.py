"""Usage of endpoints (counts, durations, cache hits), from the query log (``ddl/0009``)."""

from datetime import date, datetime
from typing import Any

import msgspec

from hoglet.warehouse.port import QueryBudget, Warehouse
from hoglet.warehouse.values import instant_text

_READ = QueryBudget(seconds=10)
_FIGURES = (
    "count() AS runs, countIf(status != 'QueryFinish') AS errors, "
    "quantileExact(0.5)(query_duration_ms) AS p50, "
    "quantileExact(0.95)(query_duration_ms) AS p95, "
    "sum(is_cached) AS cached, sum(is_materialized) AS materialized, "
    "sum(result_rows) AS rows, sum(read_rows) AS read_rows, sum(read_bytes) AS read_bytes"
)
_WHERE = (
    "FROM query_log WHERE project_id = {project_id:Int64} AND endpoint = {name:String} "
    "AND event_time >= {after:DateTime64(6, 'UTC')} "
    "AND event_time < {before:DateTime64(6, 'UTC')} "
    "AND (version = {version:Int64} OR {version:Int64} = 0)"
)


class Usage(msgspec.Struct, frozen=True):
    """Aggregates over the runs of an endpoint; durations include cached runs."""

    runs: int = 0
    errors: int = 0
    p50_ms: int | None = None
    p95_ms: int | None = None
    cached: int = 0
    materialized: int = 0
    rows: int = 0
    rows_read: int = 0
    bytes_read: int = 0


class RunUsage:
    """Computes usage from the query log."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse

    async def of(
        self,
        project_id: int,
        name: str,
        *,
        after: datetime,
        before: datetime,
        timezone: str,
        version: int | None = None,
    ) -> tuple[Usage, dict[date, Usage]]:
        """The usage of an endpoint from ``after`` up to ``before``, in total and by day.

        Days are in ``timezone``; days without runs are omitted. ``version`` None means all
        versions.
        """
        params: dict[str, Any] = {
            "project_id": project_id,
            "name": name,
            "after": instant_text(after),
            "before": instant_text(before),
            "version": version or 0,
        }
        whole = await self._warehouse.query(
            f"SELECT {_FIGURES} {_WHERE}",
            params,
            budget=_READ,
        )
        days = await self._warehouse.query(
            f"SELECT toDate(event_time, {{timezone:String}}) AS day, {_FIGURES} {_WHERE} "
            "GROUP BY day ORDER BY day",
            params | {"timezone": timezone},
            budget=_READ,
        )
        by_day = {row[0]: _usage(row[1:]) for row in days.rows}
        return _usage(whole.rows[0]) if by_day else Usage(), by_day


def _usage(row: Any) -> Usage:
    runs, errors, p50, p95, *sums = (int(value) for value in row)
    return Usage(runs, errors, p50, p95, *sums)
