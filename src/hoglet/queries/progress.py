"""Progress of background queries: rows, bytes and time of the engine so far.

Source: docs/spec/data-and-queries.md#14-asynchronous-runs.
"""

from typing import TypedDict

from hoglet.endpoints.run.response import RunResult
from hoglet.queries.tables import QueryRunRow
from hoglet.warehouse import Progress, Warehouse


class QueryProgress(TypedDict):
    """The progress of a query; times are in seconds."""

    bytes_read: int
    rows_read: int
    estimated_rows_total: int
    time_elapsed: float
    active_cpu_time: float


async def query_progress(warehouse: Warehouse, row: QueryRunRow) -> QueryProgress:
    """``query_progress`` of a run: from the engine while it runs, then the final numbers."""
    if row.ended_at is not None:
        return row.progress or _display(Progress())
    return _display(await warehouse.progress(str(row.execution_id)) or Progress())


def final_progress(answer: RunResult) -> QueryProgress:
    """The progress of a finished run."""
    result = answer.result
    rows = result.rows_read
    return _display(Progress(rows, rows, result.bytes_read, result.engine_seconds))


def _display(progress: Progress) -> QueryProgress:
    return {
        "bytes_read": progress.bytes_read,
        "rows_read": progress.rows_read,
        "estimated_rows_total": progress.rows_total,
        "time_elapsed": round(progress.seconds, 3),
        "active_cpu_time": round(progress.cpu_seconds, 3),
    }
