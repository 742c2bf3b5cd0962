"""Ad hoc queries on the executor of endpoints: one compiler, cache, budget and log.

A query is a run target without an endpoint.

Source: docs/spec/data-and-queries.md#1-query-api and docs/spec/data-and-queries.md#12-body (how
long a result counts as fresh).
"""

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID, uuid5

import msgspec
import orjson
from msgspec.structs import replace

from hoglet.access.principals import Project, ProjectScope
from hoglet.access.variables import InsightVariable
from hoglet.endpoints.analysis.model import Analysis
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.run.plan import ReadPlan
from hoglet.endpoints.run.response import NeedsBackground, RunResult
from hoglet.endpoints.run.runner import EndpointRunner
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.schemas import RunRequest
from hoglet.endpoints.worker.compiler import QueryCompiler
from hoglet.endpoints.worker.query_errors import QueryError, as_query_error
from hoglet.hogql.errors import (
    ARITY,
    QUERY,
    SYNTAX,
    TABLE_DENIED,
    UNKNOWN_FUNCTION,
    UNKNOWN_TABLE,
)
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.errors import HogletError, Unreadable
from hoglet.kit.suggestions import near
from hoglet.queries import overrides
from hoglet.queries.editor_query_schemas import check_editor_query
from hoglet.queries.events_query import EventsPlan, as_events, as_events_error, plan_events
from hoglet.queries.events_query_schemas import check_events_query, is_bounded
from hoglet.queries.kinds import EDITOR_KINDS, EVENTS, check_node
from hoglet.queries.schemas import BACKGROUND_WORDS, QueryBody

_NAMESPACE = UUID("6f0e3c57-6b0c-5d0e-9a58-6f1d3f7e2b10")
_NO_VERSION = UUID(int=0)
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_HOUR, _DAY = 3600, 86_400
_CACHE_SECONDS = {
    "second": 300, "minute": 300, "hour": _HOUR, "day": 6 * _HOUR, "week": _DAY, "month": _DAY,
    "quarter": _DAY, "year": _DAY,
}  # fmt: skip
_LIVE_TABLES = re.compile(r"\bsystem\s*\.|\bquery_log\b", re.IGNORECASE)
"""Tables whose results are never cached; a false match only costs a computation."""


def project_key(project_id: int) -> UUID:
    """The key of a project's ad hoc runs, which takes the place of an endpoint."""
    return uuid5(_NAMESPACE, str(project_id))


def target_of_query(project_id: int, query: QueryNode, name: str | None) -> RunTarget:
    """The target of a validated HogQL or insight query."""
    key = project_key(project_id)
    interval = query.get("interval") or "day"
    return RunTarget(
        endpoint_id=key,
        project_id=project_id,
        name=name or query.get("name") or "",
        is_active=True,
        current_version=0,
        version_id=_NO_VERSION,
        version=0,
        version_is_active=True,
        version_created_at=_NEVER,
        query=query,
        analysis=Analysis(),
        cache_seconds=_CACHE_SECONDS.get(interval, 6 * _HOUR),
        optional_breakdowns=frozenset(),
        materialization=None,
    )


def is_cacheable(query: QueryNode) -> bool:
    """Whether a result can be cached.

    Results of live tables and of cohorts, which change with every calculation, cannot; those of
    events queries only with both time bounds.
    """
    if query["kind"] == EVENTS:
        return is_bounded(query)
    if b"cohort" in orjson.dumps(query).lower():
        return False
    return query["kind"] != HOGQL or _LIVE_TABLES.search(query["query"]) is None


class _Prepared(NamedTuple):
    """A query for the runner; ``events`` is set for events queries, which run as HogQL."""

    target: RunTarget
    run_request: RunRequest
    events: EventsPlan | None


class PlannedQuery(NamedTuple):
    """A query with the plan of its run."""

    request: "QueryRequest"
    run_request: RunRequest
    events: EventsPlan | None
    read_plan: ReadPlan


class QueryRequest(msgspec.Struct, frozen=True):
    """A validated query: ``node`` with every key of its kind and its overrides applied.

    ``path`` is its path in the body: ``query__source`` inside a wrapper. ``system_tables`` are
    those allowed by the caller's scopes, e.g. ``("system.actions",)``. ``overridden`` says which
    parts of ``node`` come from overrides.
    """

    node: QueryNode
    refresh: str
    query_id: str | None = None
    name: str | None = None
    path: str = "query"
    system_tables: tuple[str, ...] = ()
    overridden: overrides.Places = ()

    def attr_of(self, inside: str) -> str:
        """The path in the body of a part of ``node``, e.g. ``query__series__0__math``."""
        return overrides.place_of(inside, self.overridden) or f"{self.path}__{inside}"

    @property
    def is_explained(self) -> bool:
        """Whether plan and metadata are requested; errors are then part of the response."""
        return self.node["kind"] == HOGQL and bool(self.node.get("explain"))


class QueryService:
    """Runs ad hoc HogQL, insight and events queries.

    Args:
        runner: the endpoints' runner, with cache, coalescing, budget and log.
        compiler: the endpoints' compiler.
    """

    def __init__(self, runner: EndpointRunner, compiler: QueryCompiler) -> None:
        self._runner = runner
        self._compiler = compiler

    def read(self, node: QueryNode, path: str, body: QueryBody) -> QueryRequest:
        """The request of a HogQL, insight or events query.

        Raises:
            Unreadable: an unknown key inside the node.
            Invalid: an override that does not apply.
        """
        checked = check_query(node, path)
        overrides.refuse_unused_filters(checked, path)
        checked, variables = overrides.with_variables(checked, body.variables_override)
        checked, filters = overrides.with_filters(checked, body.filters_override)
        return QueryRequest(
            checked,
            _word(checked, body.word),
            body.client_query_id,
            body.name,
            path,
            overridden=(*variables, *filters),
        )

    async def plan(self, project: Project, request: QueryRequest) -> PlannedQuery:
        """Bind the values of a query and find the key of its result.

        Raises:
            QueryError, Unreadable: a part of the query is invalid; attr is its path.
        """
        target, run_request, events = await self._prepare(project, request)
        with _errors_of(request, events):
            read_plan = await self._runner.plan(project, target, run_request)
        return PlannedQuery(request, run_request, events, read_plan)

    async def run(self, scope: ProjectScope, planned: PlannedQuery) -> RunResult | NeedsBackground:
        """Serve from the cache, compute, or request a background run.

        Raises:
            QueryError, CostExceeded, Throttled, Unavailable: as for endpoint runs.
            Unreadable: a part of the query is invalid; attr is its path.
        """
        request, run_request, events, read_plan = planned
        with _errors_of(request, events):
            outcome = await self._runner.run(scope, read_plan, run_request)
        if events is None or isinstance(outcome, NeedsBackground):
            return outcome
        return await as_events(outcome, events, request.node)

    async def compute(
        self,
        project: Project,
        request: QueryRequest,
        *,
        user_id: int | None,
        execution_id: UUID,
        seconds: float,
    ) -> RunResult:
        """Compute in the background.

        Raises:
            QueryError, CostExceeded, Throttled, Unavailable: as for endpoint runs.
        """
        target, filters, events = await self._prepare(project, request)
        with _errors_of(request, events):
            answer = await self._runner.compute(
                project,
                target,
                filters,
                user_id=user_id,
                execution_id=execution_id,
                seconds=seconds,
            )
        return answer if events is None else await as_events(answer, events, request.node)

    async def cancel(
        self, project_id: int, query_id: str, execution_id: UUID | None, *, elsewhere: bool
    ) -> bool:
        """Stop the run with this id; returns whether there was one to stop.

        ``elsewhere`` asks other servers too if this one has none.
        """
        key = project_key(project_id)
        return await self._runner.cancel(
            key, query_id, execution_id=execution_id, elsewhere=elsewhere
        )

    async def _prepare(self, project: Project, request: QueryRequest) -> _Prepared:
        node, events = request.node, None
        filters = RunRequest(
            refresh=request.refresh,
            client_query_id=request.query_id,
            system_tables=request.system_tables,
        )
        if node["kind"] == EVENTS:
            with _errors_of(request, None):
                events = await plan_events(self._compiler, project, node, request.system_tables)
            filters = replace(filters, limit=node["limit"], offset=node["offset"])
            node = events.query
        if node["kind"] == HOGQL and node.get("variables"):
            known = await self._runner.variables(project.id)
            node = with_known_variables(node, known, request.attr_of)
        return _Prepared(target_of_query(project.id, node, request.name), filters, events)


@contextmanager
def _errors_of(request: QueryRequest, events: EventsPlan | None) -> Generator[None]:
    """Convert errors raised inside to errors of the request's node."""
    try:
        yield
    except HogletError as error:
        public = as_query_error(error)
        if events is not None:
            public = as_events_error(error, events, request.node)
        raise _of_node(public, request) from error


_TEXTS = ("query__select__", "query__where__", "query__orderBy__")
_CODES_OF_TEXTS = frozenset(
    {QUERY, SYNTAX, UNKNOWN_FUNCTION, UNKNOWN_TABLE, ARITY, "invalid_input"}
)


def _of_node(error: HogletError, request: QueryRequest) -> HogletError:
    """Convert an error about a part of the node to an error about the body.

    HogQL in events queries and errors of types and aggregates keep the codes of HogQL.
    """
    if error.error_code == TABLE_DENIED or not (error.attr or "").startswith("query__"):
        return error
    attr = error.attr or ""
    path = request.attr_of(attr.removeprefix("query__"))
    is_text = request.node["kind"] == EVENTS and attr.startswith(_TEXTS)
    if isinstance(error, QueryError) and not is_text and error.error_code in _CODES_OF_TEXTS:
        return Unreadable(error.detail, attr=path)
    error.attr = path
    return error


def check_query(node: QueryNode, path: str) -> QueryNode:
    """Validate a query of any kind and fill in its keys.

    Raises:
        Unreadable: an unknown or mistyped key; attr is its path.
    """
    if node["kind"] == EVENTS:
        return check_events_query(node, path)
    if node["kind"] in EDITOR_KINDS:
        return check_editor_query(node, path)
    return check_node(node, path)


def with_known_variables(
    query: QueryNode,
    known: Sequence[InsightVariable],
    attr_of: Callable[[str], str] = "query__{}".format,
) -> QueryNode:
    """A HogQL query with its variables resolved to the project's.

    A single-value list variable is marked ``isSingle``.

    Raises:
        Unreadable: the project has no such variable; attr is the path of the entry.
    """
    by_id = {str(variable.id): variable for variable in known}
    completed: QueryNode = {}
    for key, entry in (query.get("variables") or {}).items():
        variable = by_id.get(str(entry.get("variableId") or key))
        if variable is None:
            named = entry.get("code_name") or key
            names = [each.code_name for each in known]
            detail = (
                f'The variable "{named}" has another id in the project.'
                if named in names
                else f'The project has no variable "{named}".{near(str(named), names)}'
            )
            raise Unreadable(detail, attr=attr_of(f"variables__{key}"))
        completed[key] = entry | {
            "variableId": str(variable.id),
            "code_name": entry.get("code_name") or variable.code_name,
        }
        if variable.type == "List" and not variable.is_multi:
            completed[key]["isSingle"] = True
    return query | {"variables": completed or None}


def _word(node: QueryNode, word: str) -> str:
    """The refresh mode; uncacheable queries are always computed."""
    if is_cacheable(node):
        return word
    return "force_async" if word in BACKGROUND_WORDS else "force_blocking"
