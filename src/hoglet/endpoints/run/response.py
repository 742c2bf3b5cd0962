"""Responses of runs: JSON or another format, 304, 202, and the state of background runs.

Source: docs/spec/query-endpoints.md#53-refresh and docs/spec/query-endpoints.md#56-answer.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from hoglet.access.principals import ProjectScope
from hoglet.endpoints.encoding.csv_ndjson import (
    cost_headers,
    etag_of,
    headers_of,
    is_known,
    write,
)
from hoglet.endpoints.encoding.negotiate import JSON, wanted_form
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.openapi.urls import place_of
from hoglet.endpoints.run.response_body import BODY_START, accepted_body
from hoglet.endpoints.run.result import RunResult
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.tables import AsyncRunRow
from hoglet.web.responses import JsonResponse

LARGE_BYTES = 1024 * 1024
VARY = {"Vary": "Accept"}


def form_of(request: Request, target: RunTarget) -> str:
    """The media type of the response; insights are JSON only.

    Raises:
        NotAcceptable: ``Accept`` has none of the supported types.
    """
    accept = request.headers.get("accept", "")
    if target.query["kind"] == HOGQL:
        return wanted_form(accept)
    return wanted_form(accept, (JSON,))


def answered(
    request: Request, answer: RunResult, form: str, status: Mapping[str, Any] | None = None
) -> Response:
    """A result in the requested format, or 304 if the client already has it.

    ``status`` is the refresh started in the background for a stale result.
    """
    result = answer.result
    headers = cost_headers(result, is_cached=answer.is_cached)
    if request.method == "GET":
        etag = etag_of(answer.target, result, form)
        known = not_modified(request, etag)
        if known is not None:
            return known
        headers |= {"ETag": etag, **VARY}
    if answer.next_cursor is not None:
        headers["Hoglet-Next-Cursor"] = answer.next_cursor
        headers["Link"] = f'<{_next_url(request, answer.next_cursor)}>; rel="next"'
    if form == JSON and result.rows_bytes < LARGE_BYTES:
        return Response(answer.body(status), media_type=JSON, headers=headers)
    if form == JSON:
        return _in_pieces(answer, headers, answer.after_rows(status))
    headers |= headers_of(result, answer.execution_id)
    return StreamingResponse(write(form, result), media_type=form, headers=headers)


def _in_pieces(answer: RunResult, headers: dict[str, str], end: bytes) -> Response:
    """Stream a large body, so that it is not in memory in addition to its rows."""
    result = answer.result
    gaps = len(result.parts) - 1  # "][" between two parts becomes ","
    length = len(BODY_START) + result.rows_bytes - gaps + len(end)

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


def accepted(request: Request, scope: ProjectScope, row: AsyncRunRow, name: str) -> Response:
    """202 with the URL to poll."""
    url = f"{place_of(request, scope).run_url(name)}?client_query_id={quote(row.query_id, safe='')}"
    return JsonResponse(accepted_body(row, name), status_code=202, headers={"Location": url})


def polled(request: Request, scope: ProjectScope, row: AsyncRunRow, name: str) -> Response:
    """The state of a background run, or its outcome."""
    if row.ended_at is None:
        return accepted(request, scope, row, name)
    if row.failure is not None:
        failure: Mapping[str, Any] = row.failure
        return JsonResponse(
            failure["body"], status_code=failure["status"], headers=failure["headers"]
        )
    return Response(row.answer, media_type=JSON)


def _next_url(request: Request, cursor: str) -> str:
    """URL of the next page; POST it with the same body."""
    parameters = [
        (name, value) for name, value in request.query_params.multi_items() if name != "cursor"
    ]
    query = urlencode([*parameters, ("cursor", cursor)])
    return f"{request.url.path}?{query}"
