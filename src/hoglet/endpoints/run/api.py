"""Run routes: plain Starlette, because they are the hot path.

Source: docs/spec/query-endpoints.md#5-run-rows-8-9 and
docs/spec/query-endpoints.md#6-errors-keys-limits.
"""

from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from hoglet.access.auth import authorize
from hoglet.access.principals import Project, ProjectScope
from hoglet.access.rate_limit import Limits, set_limits
from hoglet.access.variables import InsightVariable
from hoglet.endpoints.container import EndpointServices, urls_of
from hoglet.endpoints.response_schemas import VERSION_PARAMETER, QueryStatus
from hoglet.endpoints.run.cache import Result
from hoglet.endpoints.run.fast_path import (
    KnownRequest,
    PlannedRun,
    outcome_of,
    taken_over,
)
from hoglet.endpoints.run.plan import readable_system_tables
from hoglet.endpoints.run.request import JSON, polled_id, read_run
from hoglet.endpoints.run.request_kinds import Dependencies, Headers
from hoglet.endpoints.run.response import (
    VARY,
    NeedsBackground,
    RunResult,
    accepted,
    answered,
    cost_headers,
    media_type_of,
    polled,
    query_status,
)
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.schemas import RunBody, RunRequest
from hoglet.endpoints.tables import AsyncRunRow
from hoglet.endpoints.tenant_tokens.grants import (
    check_endpoint,
    restricted,
    tenant_query_id,
)
from hoglet.kit.errors import Invalid, NotFound
from hoglet.web.cors import EXPOSED
from hoglet.web.openapi import DocumentedResponse, OpenResponse, describe, flag, number, text
from hoglet.web.router import CLIENT_CLOSED_REQUEST, PROJECT_PREFIX, unless_disconnected
from hoglet.web.validation import REQUIRED


class Accepted(DocumentedResponse):
    """A run that was started in the background."""

    query_status: QueryStatus
    name: str
    endpoint_version: int
    execution_id: str


class RunAnswer(OpenResponse):
    """The results of a run; for HogQL with ``columns``, ``types``, ``limit`` and ``offset``.

    ``next_cursor`` is set if the run used a cursor.
    """

    results: list[Any] | dict[str, Any]
    hasMore: bool  # noqa: N815 (the name on the wire)
    error: None
    is_cached: bool
    last_refresh: str
    next_allowed_client_refresh: str
    cache_target_age: str
    timezone: str
    query_status: QueryStatus | None
    name: str
    execution_id: str
    endpoint_version: int
    endpoint_version_created_at: str


_RUN_QUERY = (
    VERSION_PARAMETER,
    number("limit", minimum=1, maximum=50_000),
    number("offset", minimum=0),
    text("refresh"),
    flag("debug"),
    text("client_query_id", "Id of the run; that of a background run returns its state."),
    text("cursor", "* for the first page by cursor, then the previous page's next_cursor."),
)


def run_routes() -> list[BaseRoute]:
    """Routes for running endpoints and cancelling runs, for ``create_application(routes=...)``."""
    path = PROJECT_PREFIX + "/endpoints/{name}/run"
    return [
        Route(path, run_endpoint, methods=["GET", "POST"]),
        Route(path, cancel_run, methods=["DELETE"]),
    ]


@describe(
    {200: RunAnswer, 202: Accepted},
    body=RunBody,
    query=(VERSION_PARAMETER,),
    problems=(406,),
    methods=("POST",),
)
@describe({200: RunAnswer, 202: Accepted}, query=_RUN_QUERY, problems=(406,), methods=("GET",))
async def run_endpoint(request: Request) -> Response:
    """Run an endpoint, or poll a background run."""
    services: EndpointServices = request.app.state.endpoints
    known: KnownRequest[PlannedRun] | None = taken_over(request)
    if known is not None:
        scope, current = known.scope, known.planned.current
    else:
        scope, current = await _authorized(request, services)
        requested = polled_id(request)
        if requested is not None:
            return await _poll(request, services, scope, current, requested)
        media_type_of(request, current)
    planned = services.known_requests.plan_of(known) if known else None
    if planned is None:
        variables = await services.runner.variables(scope.project.id)
        planned = await _plan(request, services, scope, current)
        _remember(request, services, scope, planned, variables)
    media_type = media_type_of(request, planned.read_plan.target)
    outcome = outcome_of(request)
    if outcome is None:
        work = run_planned(services, scope, planned)
        outcome = await unless_disconnected(request.receive, work)
    if outcome is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    return await _respond(request, services, scope, outcome, media_type)


@describe({204: None}, query=(text("client_query_id"),))
async def cancel_run(request: Request) -> Response:
    """Cancel a run by its ``client_query_id``.

    Waiting clients get ``query_cancelled``; 404 if there is no such run.
    """
    services: EndpointServices = request.app.state.endpoints
    scope = await authorize(request, request.path_params["project_id"], "endpoint:read")
    target = await services.targets.current(scope.project.id, request.path_params["name"])
    query_id = request.query_params.get("client_query_id")
    if not query_id:
        raise Invalid(REQUIRED, code="required", attr="client_query_id")
    await services.background.cancel(target, query_id)
    return Response(status_code=204)


async def _poll(
    request: Request,
    services: EndpointServices,
    scope: ProjectScope,
    current: RunTarget,
    requested: str,
) -> Response:
    """The state of a background run."""
    if scope.principal.tenant is not None:
        requested = tenant_query_id(scope.principal.tenant, requested)
    row = await services.background.find(current, requested)
    return polled(urls_of(request, scope), row, request.path_params["name"])


async def _authorized(
    request: Request, services: EndpointServices
) -> tuple[ProjectScope, RunTarget]:
    """The caller and the newest version of the endpoint."""
    scope = await authorize(
        request,
        request.path_params["project_id"],
        "endpoint:read",
        allow_secret_key=True,
        allow_tenant_token=True,
        throttle=False,
    )
    name = request.path_params["name"]
    if scope.principal.tenant is not None:
        check_endpoint(scope.principal.tenant, name)
    current = await _find(services, scope, name)
    for bucket, allowance in _limits(services, scope, current):
        await services.access.rates.take(bucket, allowance)
    if current is None:
        raise NotFound
    return scope, current


def _remember(
    request: Request,
    services: EndpointServices,
    scope: ProjectScope,
    planned: PlannedRun,
    variables: list[InsightVariable],
) -> None:
    target = planned.read_plan.target
    known = KnownRequest(
        EndpointRuns(services),
        scope,
        planned,
        (scope.principal, scope.project, planned.current, target, variables),
        limits=_limits(services, scope, planned.current),
        is_json=media_type_of(request, target) == JSON,
        handler=request.scope["endpoint"],
    )
    services.known_requests.remember(request, known)


async def _plan(
    request: Request, services: EndpointServices, scope: ProjectScope, current: RunTarget
) -> PlannedRun:
    """Parse, check and plan a run."""
    run_request = await read_run(request, current.aliases)
    if scope.principal.tenant is not None:
        run_request = restricted(scope.principal.tenant, run_request)
    run_request = _at_cursor(services, run_request)
    tables = readable_system_tables(scope.principal)
    run_request = replace(run_request, system_tables=tables)
    target = await services.targets.version(current, run_request.version)
    media_type_of(request, target)
    read_plan = await services.runner.check(scope, target, run_request)
    return PlannedRun(run_request, read_plan, current)


def _at_cursor(services: EndpointServices, run_request: RunRequest) -> RunRequest:
    """The run with its cursor decrypted; its version defaults to that of the first page."""
    opened = (
        None if run_request.cursor is None else services.runner.cursors.open(run_request.cursor)
    )
    if opened is None:
        return run_request
    version = opened.version if run_request.version is None else run_request.version
    return replace(run_request, version=version, after=opened.key)


async def _find(services: EndpointServices, scope: ProjectScope, name: str) -> RunTarget | None:
    try:
        return await services.targets.current(scope.project.id, name)
    except NotFound:
        return None


def _limits(services: EndpointServices, scope: ProjectScope, target: RunTarget | None) -> Limits:
    """The rate limits of the key, the project's secret keys and the project, if there are any.

    Runs have separate buckets; runs of a ready materialized version have higher limits.
    """
    kind, allowance = "runs", services.settings.runs
    if (
        target is not None
        and target.materialization is not None
        and target.materialization.table is not None
    ):
        kind, allowance = "materialized", services.settings.materialized_runs
    limits = [(f"{kind}:{scope.principal.key_id}", allowance)]
    if scope.principal.kind == "secret":
        limits.append((f"{kind}:secret:{scope.project.id}", allowance))
    limits.append((f"project:{scope.project.id}", services.access.rates.settings.per_project))
    return set_limits(limits)


_OPEN_HEADERS = [(name.lower().encode(), value.encode()) for name, value in EXPOSED.items()]
_VARY_HEADERS = [(name.lower().encode(), value.encode()) for name, value in VARY.items()]


class EndpointRuns(msgspec.Struct, frozen=True):
    """Known requests of endpoints; see ``RequestKind``."""

    services: EndpointServices

    async def depends_on(self, planned: PlannedRun, project: Project) -> Dependencies:
        """The newest version, the planned one, and the project's variables."""
        targets, runner = self.services.targets, self.services.runner
        current = await targets.current(project.id, planned.current.name)
        target = await targets.version(current, planned.run_request.version)
        variables = await runner.variables(project.id)
        until = targets.cached_until(current, target)
        until = min(until, runner.variables_cached_until(project.id))
        return Dependencies((current, target, variables), until)

    def times_cleared(self) -> int:
        """How often the caches of endpoints and variables were cleared."""
        return self.services.targets.times_cleared + self.services.runner.times_cleared

    @property
    def has_execution_id(self) -> bool:
        """It is in the body."""
        return True

    def after_rows(self, answer: RunResult) -> bytes:
        """The end of the body."""
        return answer.after_rows()

    def headers(self, etag: str | None, result: Result | None, *, is_cached: bool) -> Headers:
        """The headers for browsers, with the ETag and the cost."""
        headers = _OPEN_HEADERS
        if etag is not None:
            headers = [*headers, *_VARY_HEADERS, (b"etag", etag.encode())]
        if result is None:
            return headers
        cost = cost_headers(result, is_cached=is_cached)
        return [
            *headers,
            *((name.lower().encode(), value.encode()) for name, value in cost.items()),
        ]

    def executed(self, planned: PlannedRun, now: datetime) -> None:
        """Note when the version was last run."""
        target = planned.read_plan.target
        self.services.query_log.executed(target.endpoint_id, target.version_id, now)

    async def run(self, scope: ProjectScope, planned: PlannedRun) -> object:
        """A result."""
        return await run_planned(self.services, scope, planned)


async def run_planned(
    services: EndpointServices, scope: ProjectScope, planned: PlannedRun
) -> RunResult | AsyncRunRow:
    """Run, or start a background run, and note when the version was last run."""
    target = planned.read_plan.target
    outcome = await services.runner.run(scope, planned.read_plan, planned.run_request)
    services.query_log.executed(target.endpoint_id, target.version_id, services.access.clock.now())
    if isinstance(outcome, NeedsBackground):
        return await services.background.start(scope, outcome)
    return outcome


async def _respond(
    request: Request,
    services: EndpointServices,
    scope: ProjectScope,
    outcome: RunResult | AsyncRunRow,
    media_type: str,
) -> Response:
    if isinstance(outcome, AsyncRunRow):
        return accepted(urls_of(request, scope), outcome, request.path_params["name"])
    if not outcome.stale:
        return answered(request, outcome, media_type)
    refreshing = await services.background.start(
        scope, NeedsBackground(outcome.target, outcome.request)
    )
    return answered(request, outcome, media_type, query_status(refreshing, labels=["endpoint"]))
