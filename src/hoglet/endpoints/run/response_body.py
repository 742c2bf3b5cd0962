"""Bodies of run responses.

Source: docs/spec/query-endpoints.md#53-refresh (202) and 5.6.
"""

from datetime import UTC, datetime
from typing import Any, Literal, TypedDict

from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.run.cache import Result
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.tables import AsyncRunRow


class RunStatusObject(TypedDict):
    """The state of a background run; keys that hoglet has no value for are null."""

    id: str
    query_async: Literal[True]
    team_id: int
    complete: bool
    error: bool
    error_message: str | None
    results: None
    start_time: str
    end_time: str | None
    expiration_time: str
    pickup_time: str | None
    task_id: None
    insight_id: None
    dashboard_id: None
    query_progress: None
    labels: list[str] | None


class AcceptedBody(TypedDict):
    """The 202 body of a run that was started."""

    query_status: RunStatusObject
    name: str
    endpoint_version: int
    execution_id: str


class CacheTimes(TypedDict):
    """When a result was computed and how long it may be used."""

    cache_target_age: str
    last_refresh: str
    next_allowed_client_refresh: str


class InsightKeys(CacheTimes):
    """The keys beside the results of an insight."""

    hasMore: bool
    error: None
    is_cached: bool
    timezone: None
    query_status: None
    query_metadata: None


class HogQLKeys(InsightKeys):
    """The keys beside the rows of a query."""

    clickhouse: None
    columns: list[str]
    limit: int | None
    metadata: None
    offset: int | None
    query: str | None
    types: list[Any]


BODY_START = b'{"results":'


def result_keys(target: RunTarget, result: Result) -> InsightKeys | HogQLKeys:
    """The keys of a 200 body that depend on the kind of query, without ``results``."""
    return _insight_rest(result) if result.is_insight else _hogql_rest(target, result)


def accepted_body(row: AsyncRunRow, name: str) -> AcceptedBody:
    """The 202 body of a run that was started."""
    return {
        "query_status": query_status(row, labels=["endpoint"]),
        "name": name,
        "endpoint_version": row.version,
        "execution_id": str(row.execution_id),
    }


def query_status(row: AsyncRunRow, *, labels: list[str] | None = None) -> RunStatusObject:
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


def _times(result: Result) -> CacheTimes:
    return {
        "cache_target_age": stamp(result.target_age),
        "last_refresh": stamp(result.computed_at),
        "next_allowed_client_refresh": stamp(result.computed_at),
    }


def _hogql_rest(target: RunTarget, result: Result) -> HogQLKeys:
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


def _insight_rest(result: Result) -> InsightKeys:
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
