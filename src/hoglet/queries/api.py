"""Routes of the query API.

Source: docs/spec/data-and-queries.md#11-routes.
"""

import re
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Annotated, Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

import msgspec
from msgspec import structs
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from hoglet.access.auth import authorize, requires
from hoglet.access.principals import Project, ProjectScope
from hoglet.access.variables import InsightVariable
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.run.cache import Result
from hoglet.endpoints.run.fast_path import KnownRequest, outcome_of, taken_over
from hoglet.endpoints.run.plan import readable_system_tables
from hoglet.endpoints.run.request_kinds import Dependencies, Headers
from hoglet.endpoints.run.response import NeedsBackground, RunResult
from hoglet.endpoints.run.runner import EndpointRunner
from hoglet.endpoints.worker.query_errors import QueryError
from hoglet.kit.errors import MethodNotAllowed, NotFound, Unreadable
from hoglet.queries.container import QueryServices, services_of
from hoglet.queries.editor_query_schemas import check_editor_query
from hoglet.queries.hogql import run_node
from hoglet.queries.kinds import EDITOR_KINDS, check_node, unwrap
from hoglet.queries.progress import query_progress
from hoglet.queries.response import after_rows, body_of, failed_body, formatted, query_status
from hoglet.queries.schemas import (
    Allowed,
    Cancelled,
    QueryAnswer,
    QueryBody,
    RunStatusAnswer,
    UpgradeBody,
    Upgraded,
    read_body_fields,
)
from hoglet.queries.service import PlannedQuery, QueryRequest, QueryService, check_query
from hoglet.queries.tables import QueryRunRow
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import describe, flag
from hoglet.web.request_body import read_object
from hoglet.web.router import (
    CLIENT_CLOSED_REQUEST,
    PROJECT_PREFIX,
    Depends,
    Router,
    unless_disconnected,
)

router = Router()

type Reader = Annotated[ProjectScope, Depends(requires("query:read", allow_secret_key=True))]


def _unless_known(scope: str) -> Callable[[Request], Awaitable[ProjectScope]]:
    """A dependency: the caller, whom the fast path may have authorized already."""

    async def guard(request: Request) -> ProjectScope:
        known = taken_over(request)
        if known is not None:
            return known.scope
        project_id: str = request.path_params["project_id"]
        return await authorize(request, project_id, scope, allow_secret_key=True)

    return guard


_read_queries = _unless_known("query:read")

type Repeater = Annotated[ProjectScope, Depends(_read_queries)]
type PersonalReader = Annotated[ProjectScope, Depends(requires("query:read"))]

_READ = Depends(requires("query:read"))
_KIND = re.compile(r"[A-Z][A-Za-z]*")
_JSON = "application/json"
_DRAFTS = "draft_sql"  # PostHog's language model route; not supported
_YES = frozenset({"true", "1"})
_PROGRESS_WORDS = ("show_progress", "showProgress")


@describe({200: QueryAnswer, 202: RunStatusAnswer}, body=QueryBody, methods=("POST",))
async def run_query(request: Request) -> Response:
    """Run a query: HogQL, an insight, events, or an editor query."""
    return await _run(request, await _read_queries(request), kind=None)


def query_routes() -> list[BaseRoute]:
    """The route that runs queries, for ``create_application(routes=...)``."""
    return [Route(PROJECT_PREFIX + "/query", run_query, methods=["POST"])]


@router.get("/query", dependencies=[_READ])
@describe({405: {"type": "object"}})
async def refuse_query_list() -> Response:
    """Reject listing: queries are not listed."""
    raise MethodNotAllowed('Method "GET" not allowed.')


@router.post("/query/upgrade", dependencies=[_READ])
@describe({200: Upgraded}, body=UpgradeBody)
async def upgrade_query(request: Request) -> Response:
    """Convert a query of an older client; nothing is run."""
    body = read_body_fields(UpgradeBody, await read_object(request))
    node, path = unwrap(body.query)
    return JsonResponse({"query": _wrapped(body.query, check_query(node, path))})


@router.post("/query/check_auth_for_async", dependencies=[_READ])
@describe({200: Allowed})
async def check_auth_for_async() -> Response:
    """Check whether the key may run queries."""
    return JsonResponse({"user": "ok"})


@router.post("/query/{kind}")
@describe({200: QueryAnswer, 202: RunStatusAnswer}, body=QueryBody)
async def run_query_of_kind(request: Request, kind: str, scope: Repeater) -> Response:
    """Run a query whose kind is also in the path."""
    if kind == _DRAFTS:
        raise NotFound
    if _KIND.fullmatch(kind) is None:
        raise MethodNotAllowed('Method "POST" not allowed.')
    return await _run(request, scope, kind=kind)


@router.get("/query/{query_id}")
@describe(
    {200: RunStatusAnswer, 202: RunStatusAnswer, 400: RunStatusAnswer},
    query=(flag("show_progress"),),
)
async def poll_query(request: Request, query_id: str, scope: Reader) -> Response:
    """Poll a background query; includes its results once it is done."""
    services = services_of(request)
    row = await services.background.find(scope.project.id, query_id)
    status = query_status(row)
    if any(request.query_params.get(name, "").lower() in _YES for name in _PROGRESS_WORDS):
        status["query_progress"] = await query_progress(services.endpoints.warehouse, row)
    return JsonResponse({"query_status": status}, status_code=_status_code(row))


@router.delete("/query/{query_id}")
@describe({200: Cancelled}, query=(flag("dequeue_only"),))
async def cancel_query(request: Request, query_id: str, scope: Reader) -> Response:
    """Cancel a queued or running query; returns when the engine has stopped."""
    waiting_only = request.query_params.get("dequeue_only", "").lower() in _YES
    background = services_of(request).background
    cancelled = await background.cancel(scope.project.id, query_id, waiting_only=waiting_only)
    message = "Query cancelled" if cancelled else "Nothing to cancel"
    return JsonResponse({"message": message})


@router.get("/query/{query_id}/log")
@describe({200: QueryAnswer})
async def read_query_log(request: Request, query_id: str, scope: PersonalReader) -> Response:
    """Get the query log entries with this id since the start of yesterday."""
    answer = await log_of(services_of(request), scope, query_id)
    return Response(body_of(answer), media_type=_JSON)


async def _run(request: Request, scope: ProjectScope, *, kind: str | None) -> Response:
    services, known = services_of(request), taken_over(request)
    planned = services.endpoints.known_requests.plan_of(known) if known else None
    if planned is not None:
        return await _compute(request, scope, planned)
    body = read_body_fields(QueryBody, await read_object(request))
    node, path = unwrap(body.query)
    if kind is not None and body.query["kind"] != kind:
        raise Unreadable(
            f"The body contains a {body.query['kind']}, not a {kind}.", attr="query__kind"
        )
    if node["kind"] in EDITOR_KINDS:
        checked = check_editor_query(node, path)
        return JsonResponse(await services.editors.answer(scope, checked))
    variables = await services.endpoints.runner.variables(scope.project.id)
    tables = readable_system_tables(scope.principal)
    requested = structs.replace(services.service.read(node, path, body), system_tables=tables)
    try:
        planned = await services.service.plan(scope.project, requested)
        response = await _compute(request, scope, planned)
    except QueryError as error:
        if not requested.is_explained:
            raise
        more = await services.editors.explain(
            scope.project, requested.node, requested.system_tables
        )
        body = failed_body(requested.node, error.detail, scope.project.timezone)
        return JsonResponse(body | more)
    if planned.events is None and not requested.is_explained:
        _remember(request, scope, planned, variables)
    return response


def _remember(
    request: Request, scope: ProjectScope, planned: PlannedQuery, variables: list[InsightVariable]
) -> None:
    services = services_of(request)
    known = KnownRequest(
        RepeatedQueries(services.endpoints.runner, services.service),
        scope,
        planned,
        (scope.principal, scope.project, variables),
        limits=services.endpoints.access.rates.limits_of(scope),
        is_json=not _wants_text(request),
        handler=request.scope["endpoint"],
    )
    services.endpoints.known_requests.remember(request, known)


class RepeatedQueries(msgspec.Struct, frozen=True):
    """Known requests of the query API; see ``RequestKind``."""

    runner: EndpointRunner
    service: QueryService

    async def depends_on(self, planned: PlannedQuery, project: Project) -> Dependencies:
        """The project's variables."""
        del planned
        variables = await self.runner.variables(project.id)
        return Dependencies((variables,), self.runner.variables_cached_until(project.id))

    def times_cleared(self) -> int:
        """How often the cache of variables was cleared."""
        return self.runner.times_cleared

    @property
    def has_execution_id(self) -> bool:
        """It is not in the body."""
        return False

    def after_rows(self, answer: RunResult) -> bytes:
        """The end of the body."""
        return after_rows(answer, {})

    def headers(self, etag: str | None, result: Result | None, *, is_cached: bool) -> Headers:
        """None of its own."""
        del etag, result, is_cached
        return []

    def executed(self, planned: PlannedQuery, now: datetime) -> None:
        """Nothing is noted besides the query log."""

    async def run(self, scope: ProjectScope, planned: PlannedQuery) -> object:
        """A result."""
        return await self.service.run(scope, planned)


async def _compute(request: Request, scope: ProjectScope, planned: PlannedQuery) -> Response:
    """Run a planned query, unless the client disconnects."""
    outcome = outcome_of(request)
    if outcome is None:
        work = services_of(request).service.run(scope, planned)
        outcome = await unless_disconnected(request.receive, work)
    return await _respond(request, scope, planned.request, outcome)


async def _respond(
    request: Request,
    scope: ProjectScope,
    requested: QueryRequest,
    outcome: RunResult | NeedsBackground | None,
) -> Response:
    services = services_of(request)
    if outcome is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    if isinstance(outcome, NeedsBackground):
        return _accepted(request, await services.background.start(scope, requested))
    extra = await services.editors.explain(scope.project, requested.node, requested.system_tables)
    if outcome.stale:
        extra["query_status"] = query_status(await services.background.start(scope, requested))
    if _wants_text(request):
        extra["formatted_results"] = formatted(outcome)
    return Response(body_of(outcome, extra=extra), media_type=_JSON)


def _wants_text(request: Request) -> bool:
    return request.headers.get("x-posthog-client", "").lower() == "mcp"


def _accepted(request: Request, row: QueryRunRow) -> Response:
    path = request.url.path.rstrip("/")
    path = path.removesuffix("/" + path.rsplit("/", 1)[-1]) if not path.endswith("/query") else path
    headers = {"Location": f"{path}/{quote(row.query_id, safe='')}/"}
    return JsonResponse({"query_status": query_status(row)}, status_code=202, headers=headers)


def _status_code(row: QueryRunRow) -> int:
    if row.failure is not None:
        return 500 if row.failure["status"] == 500 else 400
    return 200 if row.ended_at is not None else 202


def _wrapped(sent: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """The validated query inside its wrappers."""
    if isinstance(sent.get("source"), dict) and sent["kind"] != node["kind"]:
        return sent | {"source": _wrapped(sent["source"], node)}
    return node


_QUERY = """SELECT * FROM query_log
WHERE query_id = {query_id} AND event_time >= toDateTime({since})
ORDER BY event_time"""


async def log_of(services: QueryServices, scope: ProjectScope, query_id: str) -> RunResult:
    """The log entries of a query, as the result of a HogQL query."""
    await services.endpoints.query_log.flush()
    yesterday = services.endpoints.access.clock.now() - timedelta(days=1)
    since = yesterday.astimezone(ZoneInfo(scope.project.timezone)).strftime("%Y-%m-%d 00:00:00")
    values = {"query_id": query_id, "since": since}
    node = {"kind": HOGQL, "query": _QUERY, "values": values}
    return await run_node(services.service, scope, check_node(node, "query"))
