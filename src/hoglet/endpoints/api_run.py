"""Run: plain Starlette routes, since these are the ones that are called all day.

Source: spec/query-endpoints.md sections 5 and 6.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive

from hoglet.access.entities import Scope
from hoglet.access.guard import authorize
from hoglet.endpoints import errors
from hoglet.endpoints.bodies import accepted_body, query_status
from hoglet.endpoints.formats import etag_of, headers_of, is_known, wanted_format, write
from hoglet.endpoints.places import place_of
from hoglet.endpoints.queries import read_number
from hoglet.endpoints.reading import Reading
from hoglet.endpoints.rooms import EndpointRooms, rooms_of
from hoglet.endpoints.runner import Answer, NeedsBackground
from hoglet.endpoints.schemas import RunBody, RunRequest, read
from hoglet.endpoints.tables import AsyncRunRow
from hoglet.endpoints.targets import Target
from hoglet.kit.errors import HogletError, Invalid, NotFound
from hoglet.web.answers import JsonAnswer
from hoglet.web.body import read_body, read_object
from hoglet.web.paths import PROJECT_PREFIX
from hoglet.web.validate import NOT_BOOLEAN

_JSON = "application/json"
_CLIENT_CLOSED_REQUEST = 499


def run_routes() -> list[BaseRoute]:
    """Rows 8 and 9, for ``create_application(routes=...)``."""
    path = PROJECT_PREFIX + "/endpoints/{name}/run"
    return [Route(path, run_endpoint, methods=["GET", "POST"])]


async def run_endpoint(request: Request) -> Response:
    """Run an endpoint, or look up a background run."""
    rooms = rooms_of(request)
    scope = await authorize(
        request,
        request.path_params["project_id"],
        "endpoint:read",
        allow_secret_key=True,
        throttle=False,
    )
    name = request.path_params["name"]
    current = await _find(rooms, scope, name)
    _throttle(rooms, scope, current)
    if current is None:
        raise NotFound
    polled = _polled_id(request)
    if polled is not None:
        return await _poll(request, rooms, scope, current, polled)
    kind = wanted_format(request.headers.get("accept", ""))
    key = (
        scope.project.id,
        name,
        request.method,
        request.scope["query_string"],
        request.headers.get("content-type", ""),
        await read_body(request),
    )
    quick = rooms.quick.answer(key, scope, current) if kind is None else None
    if quick is not None:
        body, etag, target = quick
        rooms.notes.executed(target.endpoint_id, target.version_id, rooms.access.clock.now())
        return _tagged(request, etag) or Response(body, media_type=_JSON, headers={"ETag": etag})
    wanted = await read_run(request)
    target = await rooms.targets.version(current, wanted.version)
    reading = await rooms.runner.check(scope, target, wanted)
    rooms.quick.remember(key, current, wanted, reading)
    outcome = await _unless_disconnected(request, _run(rooms, scope, reading, wanted))
    if outcome is None:
        return Response(status_code=_CLIENT_CLOSED_REQUEST)
    return await _respond(request, rooms, scope, outcome)


async def read_run(request: Request) -> RunRequest:
    """The wish of a run, from body and (GET) query string; the body wins.

    Raises:
        Invalid: section 5.8 rows 5 to 7.
    """
    body = read(RunBody, await read_object(request))
    if request.method == "GET":
        body = read(RunBody, {**_query_fields(request), **body.model_dump(exclude_unset=True)})
    version = body.version if body.version is not None else read_number(request, "version")
    limit = body.limit if body.limit is not None else _page_number(request, "limit", least=1)
    offset = body.offset if body.offset is not None else _page_number(request, "offset", least=0)
    if offset is not None and limit is None:
        raise errors.offset_without_limit()
    return RunRequest(
        variables=body.variables or {},
        version=version,
        refresh=body.refresh,
        debug=body.debug,
        client_query_id=body.client_query_id,
        filters_override=body.filters_override,
        query_override=body.query_override,
        limit=limit,
        offset=offset,
    )


def _query_fields(request: Request) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name in ("refresh", "client_query_id"):
        if request.query_params.get(name):
            fields[name] = request.query_params[name]
    debug = request.query_params.get("debug")
    if debug:
        if debug.lower() not in ("true", "false", "1", "0"):
            raise Invalid(NOT_BOOLEAN, attr="debug")
        fields["debug"] = debug.lower() in ("true", "1")
    return fields


def _page_number(request: Request, name: str, *, least: int) -> int | None:
    number = read_number(request, name, least=least)
    if name == "limit" and number is not None and number > 50_000:
        raise errors.bad_parameter(name, number)
    return number


async def _find(rooms: EndpointRooms, scope: Scope, name: str) -> Target | None:
    try:
        return await rooms.targets.current(scope.project.id, name)
    except NotFound:
        return None


def _throttle(rooms: EndpointRooms, scope: Scope, target: Target | None) -> None:
    """Count the run; runs of a ready materialized version have an allowance of their own."""
    settings, rates = rooms.settings, rooms.access.rates
    key = f"{scope.principal.key_id}"
    if target is not None and target.kept is not None and target.kept.table is not None:
        rates.take(f"materialized:{key}", settings.materialized_runs)
    elif settings.runs is None:
        rates.check(scope)
    else:
        rates.take(f"runs:{key}", settings.runs)
    if scope.principal.kind == "secret":
        rates.take(f"secret-runs:{scope.project.id}", settings.secret_runs)


def _polled_id(request: Request) -> str | None:
    """The id of a background run that is only asked for: GET with the id and no refresh word."""
    if request.method != "GET" or request.query_params.get("refresh"):
        return None
    return request.query_params.get("client_query_id") or None


async def _run(
    rooms: EndpointRooms, scope: Scope, reading: Reading, wanted: RunRequest
) -> Answer | AsyncRunRow:
    target = reading.target
    outcome = await rooms.runner.run(scope, reading, wanted)
    rooms.notes.executed(target.endpoint_id, target.version_id, rooms.access.clock.now())
    if isinstance(outcome, NeedsBackground):
        return await rooms.background.start(scope, outcome)
    return outcome


async def _respond(
    request: Request, rooms: EndpointRooms, scope: Scope, outcome: Answer | AsyncRunRow
) -> Response:
    name = request.path_params["name"]
    if isinstance(outcome, AsyncRunRow):
        return _accepted(request, scope, outcome, name)
    if not outcome.stale:
        return await _answered(request, outcome)
    refreshing = await rooms.background.start(scope, NeedsBackground(outcome.target, outcome.wish))
    status = query_status(refreshing, labels=["endpoint"])
    return Response(outcome.body(status), media_type=_JSON)


async def _answered(request: Request, answer: Answer) -> Response:
    """A result in the form that was asked for, or 304 when the caller has it already."""
    target, result = answer.target, answer.result
    headers: dict[str, str] = {}
    if request.method == "GET":
        etag = etag_of(target, result)
        known = _tagged(request, etag)
        if known is not None:
            return known
        headers["ETag"] = etag
    kind = wanted_format(request.headers.get("accept", ""))
    if kind is None or result.is_insight:
        return Response(answer.body(), media_type=_JSON, headers=headers)
    headers |= headers_of(result, answer.execution_id)
    text = await asyncio.to_thread(write, kind, target, result)
    return Response(text, media_type=kind, headers=headers)


def _tagged(request: Request, etag: str) -> Response | None:
    sent = request.headers.get("if-none-match")
    if request.method != "GET" or not sent or not is_known(etag, sent):
        return None
    return Response(status_code=304, headers={"ETag": etag})


async def _poll(
    request: Request, rooms: EndpointRooms, scope: Scope, target: Target, query_id: str
) -> Response:
    row = await rooms.background.find(target, query_id)
    if row.ended_at is None:
        return _accepted(request, scope, row, target.name)
    if row.failure is not None:
        failure: Mapping[str, Any] = row.failure
        return JsonAnswer(
            failure["body"], status_code=failure["status"], headers=failure["headers"]
        )
    return Response(row.answer, media_type=_JSON)


def _accepted(request: Request, scope: Scope, row: AsyncRunRow, name: str) -> Response:
    url = f"{place_of(request, scope).run_url(name)}?client_query_id={quote(row.query_id, safe='')}"
    return JsonAnswer(accepted_body(row, name), status_code=202, headers={"Location": url})


async def _unless_disconnected[T](request: Request, work: Any) -> T | None:
    """Do the work, but stop it when the client goes away; None then."""
    running: asyncio.Task[T] = asyncio.ensure_future(work)
    done, _ = await asyncio.wait({running}, timeout=0.01)
    if done:
        return running.result()
    gone = asyncio.ensure_future(_disconnect(request.receive))
    try:
        await asyncio.wait({running, gone}, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        running.cancel()
        raise
    finally:
        gone.cancel()
    if running.done():
        return running.result()
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError, HogletError):
        await running
    return None


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
