"""Responses of runs: bodies and headers of 200, 304, 202 and of background runs that are polled.

An ETag identifies the computed result, not the body (which has its own execution id), so it is
weak; ``If-None-Match`` on GET returns 304.

Source: docs/spec/query-endpoints.md#53-refresh and docs/spec/query-endpoints.md#56-answer.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Literal, TypedDict
from urllib.parse import quote, urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from hoglet.endpoints.encoding.csv_ndjson import write
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.run.cache import Result
from hoglet.endpoints.run.request import JSON, negotiated
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.schemas import RunRequest
from hoglet.endpoints.serializers import EndpointUrls
from hoglet.endpoints.tables import AsyncRunRow
from hoglet.kit.json import dump_json
from hoglet.web.json_response import JsonResponse

BODY_START = b'{"results":'
LARGE_BYTES = 1024 * 1024
VARY = {"Vary": "Accept"}


class RunResult(msgspec.Struct, frozen=True):
    """The result of a run.

    ``stale`` requests a background refresh; ``next_cursor`` is the cursor of the next page, if any.
    """

    target: RunTarget
    result: Result
    execution_id: str
    timezone: str
    is_cached: bool
    request: RunRequest
    stale: bool = False
    next_cursor: str | None = None

    def body(self, query_status: Mapping[str, Any] | None = None) -> bytes:
        """The 200 body."""
        end = self.after_rows(query_status)
        return b"".join((BODY_START, *self.result.parts.pieces(), end))

    def after_rows(self, query_status: Mapping[str, Any] | None = None) -> bytes:
        """The end of the 200 body, from the comma after its rows."""
        target, result = self.target, self.result
        rest = result_keys(target, result)
        rest |= {
            "is_cached": self.is_cached,
            "query_status": query_status,
            "timezone": self.timezone,
        }
        if self.request.debug:
            rest |= result.debug
        rest |= {
            "name": target.name,
            "execution_id": self.execution_id,
            "endpoint_version": target.version,
            "endpoint_version_created_at": target.version_created_at.isoformat(),
        }
        if result.is_materialized:
            built = result.materialized_at
            rest["endpoint_materialized"] = True
            rest["endpoint_materialized_at"] = None if built is None else built.isoformat()
        if self.request.cursor is not None:
            rest["next_cursor"] = self.next_cursor
        return b"," + dump_json(rest)[1:]


class NeedsBackground(msgspec.Struct, frozen=True):
    """The run must be processed in the background: respond with 202."""

    target: RunTarget
    request: RunRequest


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
    naive = at.astimezone(UTC).replace(tzinfo=None)
    return naive.isoformat(timespec="seconds") + "Z"  # strftime takes ten times as long


def _times(result: Result) -> CacheTimes:
    computed_at = stamp(result.computed_at)
    return {
        "cache_target_age": stamp(result.target_age),
        "last_refresh": computed_at,
        "next_allowed_client_refresh": computed_at,
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


def media_type_of(request: Request, target: RunTarget) -> str:
    """The media type of the response; insights are JSON only.

    Raises:
        NotAcceptable: ``Accept`` has none of the supported types.
    """
    accept = request.headers.get("accept", "")
    if target.query["kind"] == HOGQL:
        return negotiated(accept)
    return negotiated(accept, (JSON,))


def answered(
    request: Request, answer: RunResult, media_type: str, status: Mapping[str, Any] | None = None
) -> Response:
    """A result in the requested format, or 304 if the client already has it.

    ``status`` is the refresh started in the background for a stale result.
    """
    result = answer.result
    headers = cost_headers(result, is_cached=answer.is_cached)
    if request.method == "GET":
        etag = etag_of(answer.target, result, media_type)
        known = not_modified(request, etag)
        if known is not None:
            return known
        headers |= {"ETag": etag, **VARY}
    if answer.next_cursor is not None:
        headers["Hoglet-Next-Cursor"] = answer.next_cursor
        headers["Link"] = f'<{_next_url(request, answer.next_cursor)}>; rel="next"'
    if media_type == JSON and result.rows_bytes < LARGE_BYTES:
        return Response(answer.body(status), media_type=JSON, headers=headers)
    if media_type == JSON:
        return _in_pieces(answer, headers, answer.after_rows(status))
    headers |= headers_of(result, answer.execution_id)
    return StreamingResponse(write(media_type, result), media_type=media_type, headers=headers)


def _in_pieces(answer: RunResult, headers: dict[str, str], end: bytes) -> Response:
    """Stream a large body instead of copying its rows into one more string."""
    result = answer.result
    length = len(BODY_START) + result.rows_bytes + len(end)

    async def pieces() -> AsyncIterator[bytes]:
        yield BODY_START
        for piece in result.parts.pieces():
            yield piece
        yield end

    headers = headers | {"Content-Length": str(length)}
    return StreamingResponse(pieces(), media_type=JSON, headers=headers)


def not_modified(request: Request, etag: str) -> Response | None:
    """304 if the client of a GET sent this ETag."""
    sent = request.headers.get("if-none-match")
    if request.method != "GET" or not sent or not is_known(etag, sent):
        return None
    return Response(status_code=304, headers={"ETag": etag, **VARY})


def accepted(urls: EndpointUrls, row: AsyncRunRow, name: str) -> Response:
    """202 with the URL to poll."""
    url = f"{urls.run_url(name)}?client_query_id={quote(row.query_id, safe='')}"
    return JsonResponse(accepted_body(row, name), status_code=202, headers={"Location": url})


def polled(urls: EndpointUrls, row: AsyncRunRow, name: str) -> Response:
    """The state of a background run, or its outcome."""
    if row.ended_at is None:
        return accepted(urls, row, name)
    if row.failure is not None:
        failure: Mapping[str, Any] = row.failure
        return JsonResponse(
            failure["body"], status_code=failure["status"], headers=failure["headers"]
        )
    return Response(row.answer, media_type=JSON)


def headers_of(result: Result, execution_id: str) -> dict[str, str]:
    """The metadata of the JSON body as headers."""
    return {
        "Hoglet-Has-More": "true" if result.has_more else "false",
        "Hoglet-Last-Refresh": stamp(result.computed_at),
        "Hoglet-Execution-Id": execution_id,
    }


def cost_headers(result: Result, *, is_cached: bool) -> dict[str, str]:
    """The cost of the computation, zero for cached results; and which variables were rounded."""
    rows, read, seconds = result.rows_read, result.bytes_read, result.engine_seconds
    if is_cached:
        rows, read, seconds = 0, 0, 0.0
    headers = {
        "Hoglet-Rows-Read": str(rows),
        "Hoglet-Bytes-Read": str(read),
        "Hoglet-Elapsed-Seconds": f"{seconds:.6f}",
    }
    if result.rounded:
        rounded = (f"{quote(code)}={unit}" for code, unit in result.rounded.items())
        headers["Hoglet-Rounded-Variables"] = ", ".join(rounded)
    return headers


def etag_of(target: RunTarget, result: Result, media_type: str = JSON) -> str:
    """The weak ETag of a result: equal for equal rows, however often they are computed."""
    shape = (result.limit, result.offset, result.has_more, result.types)
    parts = (target.version_id, media_type, *shape)
    digest = blake2b(repr(parts).encode(), digest_size=12)
    digest.update(result.parts.digest())
    return f'W/"{digest.hexdigest()}"'


def is_known(etag: str, if_none_match: str) -> bool:
    """Whether the client already has the result (weak comparison, RFC 9110)."""
    known = [part.strip().removeprefix("W/") for part in if_none_match.split(",")]
    return "*" in known or etag.removeprefix("W/") in known


def _next_url(request: Request, cursor: str) -> str:
    """URL of the next page; POST it with the same body."""
    parameters = [
        (name, value) for name, value in request.query_params.multi_items() if name != "cursor"
    ]
    query = urlencode([*parameters, ("cursor", cursor)])
    return f"{request.url.path}?{query}"
