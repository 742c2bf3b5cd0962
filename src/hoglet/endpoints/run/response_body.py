"""Bodies of run responses.

Source: docs/spec/query-endpoints.md#53-refresh (202) and 5.6.
"""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.run.cache import Result
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.tables import AsyncRunRow
from hoglet.kit.text import dump_json

type Json = dict[str, Any]

BODY_START = b'{"results":'


def after_rows(
    target: RunTarget,
    result: Result,
    *,
    execution_id: UUID,
    timezone: str,
    is_cached: bool,
    debug: bool,
    query_status: Json | None = None,
    more: Json | None = None,
) -> bytes:
    """The 200 body after the encoded rows; ``results`` is its first key.

    ``more`` are optional keys (``next_cursor``).
    """
    rest = _insight_rest(result) if result.is_insight else _hogql_rest(target, result)
    rest |= {"is_cached": is_cached, "query_status": query_status, "timezone": timezone}
    if debug:
        rest |= result.debug
    rest |= {
        "name": target.name,
        "execution_id": str(execution_id),
        "endpoint_version": target.version,
        "endpoint_version_created_at": target.version_created_at.isoformat(),
    }
    if result.is_materialized:
        built = result.materialized_at
        rest["endpoint_materialized"] = True
        rest["endpoint_materialized_at"] = None if built is None else built.isoformat()
    rest |= more or {}
    return b"," + dump_json(rest)[1:]


def accepted_body(row: AsyncRunRow, name: str) -> Json:
    """The 202 body of a run that was started."""
    return {
        "query_status": query_status(row, labels=["endpoint"]),
        "name": name,
        "endpoint_version": row.version,
        "execution_id": str(row.execution_id),
    }


def query_status(row: AsyncRunRow, *, labels: list[str] | None = None) -> Json:
    """The state of a background run."""
    complete = row.ended_at is not None
    return {
        "id": row.query_id,
        "query_async": True,
        "team_id": row.project_id,
        "complete": complete,
        "error": row.failure is not None,
        "error_message": None if row.failure is None else row.failure["body"].get("detail"),
        "results": None,
        "start_time": stamp(row.started_at),
        "end_time": None if row.ended_at is None else stamp(row.ended_at),
        "expiration_time": stamp(row.expires_at),
        "pickup_time": None if row.picked_up_at is None else stamp(row.picked_up_at),
        "task_id": None,
        "insight_id": None,
        "dashboard_id": None,
        "query_progress": None,
        "labels": labels,
    }


def stamp(at: datetime) -> str:
    """A timestamp in whole seconds.

    Example:
        >>> stamp(datetime(2026, 1, 5, 12, tzinfo=UTC))
        '2026-01-05T12:00:00Z'
    """
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _times(result: Result) -> Json:
    return {
        "cache_target_age": stamp(result.target_age),
        "last_refresh": stamp(result.computed_at),
        "next_allowed_client_refresh": stamp(result.computed_at),
    }


def _hogql_rest(target: RunTarget, result: Result) -> Json:
    times = _times(result)
    return {
        "cache_target_age": times["cache_target_age"],
        "clickhouse": None,
        "columns": result.columns,
        "error": None,
        "hasMore": result.has_more,
        "is_cached": False,
        "last_refresh": times["last_refresh"],
        "limit": result.limit,
        "metadata": None,
        "next_allowed_client_refresh": times["next_allowed_client_refresh"],
        "offset": result.offset,
        "query": target.query["query"] if target.query["kind"] == HOGQL else None,
        "query_metadata": None,
        "query_status": None,
        "timezone": None,
        "types": result.types,
    }


def _insight_rest(result: Result) -> Json:
    times = _times(result)
    return {
        "hasMore": result.has_more,
        "error": None,
        "is_cached": False,
        "last_refresh": times["last_refresh"],
        "next_allowed_client_refresh": times["next_allowed_client_refresh"],
        "cache_target_age": times["cache_target_age"],
        "timezone": None,
        "query_status": None,
        "query_metadata": None,
    }
