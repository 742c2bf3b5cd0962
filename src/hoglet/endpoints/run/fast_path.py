"""Fast path for repeated identical requests, of endpoints and of the query API.

What a request is allowed to do and how it is planned depends only on its head, its body and some
rows, so both are remembered by the head and the body as sent, together with the rows. Such a
request is checked and answered before it is routed: from the result cache, with a response that is
joined from bytes, or by computing the plan. Errors, other formats than JSON, large results and
background runs are left to the route, which takes over the plan, and the result if there is one.
The rows of results stay in the result cache, which bounds them.

Source: docs/adr/0026-short-endpoint-runs.md, docs/adr/0059-answered-before-routing.md,
docs/adr/0066-runs-computed-before-routing.md.
"""

from datetime import UTC, datetime, timedelta
from operator import is_
from time import monotonic
from typing import Any, NamedTuple
from uuid import UUID
from weakref import ref

import msgspec
from msgspec.structs import replace
from starlette.requests import Request
from starlette.types import Message, Receive, Scope

from hoglet.access.auth import AccessService, bearer_key, find_project
from hoglet.access.principals import ProjectScope
from hoglet.access.rate_limit import Limits
from hoglet.endpoints.query_log.log import QueryLog, QueryLogEntry
from hoglet.endpoints.run.cache import Result
from hoglet.endpoints.run.plan import ReadPlan
from hoglet.endpoints.run.request import JSON
from hoglet.endpoints.run.request_kinds import Headers, Planned, RequestKind
from hoglet.endpoints.run.response import (
    BODY_START,
    LARGE_BYTES,
    RunResult,
    etag_of,
    is_known,
)
from hoglet.endpoints.run.runner import FORCED, EndpointRunner
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.schemas import RunRequest
from hoglet.kit.cache import BoundedCache
from hoglet.kit.clock import new_id_text
from hoglet.kit.errors import HogletError
from hoglet.warehouse import JsonParts
from hoglet.web.request_body import BODY, receive_body
from hoglet.web.router import CLIENT_CLOSED_REQUEST, Answer, unless_disconnected

type Pieces = tuple[bytes, ...]
"""The end of a body, from the comma after its rows; the execution id goes between the pieces."""
type Head = tuple[str, str, bytes, tuple[tuple[bytes, bytes], ...]]
"""Method, path, query string, and the headers that the response depends on."""

REMEMBERED = 5_000
MAX_REQUEST_BYTES = 4_000
PATHS = ("/run", "/run/", "/query", "/query/", "Query", "Query/")
"""Ends of the paths of requests that may be known, such as ``/query/TrendsQuery``."""
_DECIDING = frozenset(
    {
        b"accept",
        b"authorization",
        b"content-length",
        b"content-type",
        b"if-none-match",
        b"transfer-encoding",
        b"x-posthog-client",
    }
)
_HEAD, _KNOWN, _REFUSAL = "hoglet.head", "hoglet.known_request", "hoglet.refusal"
_OUTCOME = "hoglet.outcome"
_COMPUTED = FORCED | {"blocking", "force_cache"}
"""Refresh modes that wait for the result."""
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)
_NO_ID_TEXT = str(UUID(int=0))


class PlannedRun(NamedTuple):
    """A run of an endpoint with its plan; ``current`` is the endpoint's newest version."""

    run_request: RunRequest
    read_plan: ReadPlan
    current: RunTarget


class KnownRequest[P: Planned](msgspec.Struct, weakref=True):
    """A remembered request.

    ``depends_on`` begins with the caller and the project; ``is_json`` is false if the client wants
    another format. ``ready`` is the response, if the result cache has had one. It is checked again
    at ``valid_until`` on the monotonic clock, and if caches were cleared since ``times_cleared``.
    """

    kind: RequestKind[P]
    scope: ProjectScope
    planned: P
    depends_on: tuple[object, ...]
    limits: Limits
    is_json: bool
    handler: object
    project_id: str = ""
    token: str = ""
    if_none_match: str = ""
    ready: "_Ready | None" = None
    valid_until: float = 0.0
    times_cleared: int = -1

    def is_of(self, depends_on: tuple[object, ...]) -> bool:
        """Whether the plan was made from these rows, or from equal ones that were loaded before."""
        if all(map(is_, self.depends_on, depends_on)):
            return True
        if self.depends_on != depends_on:
            return False
        self.depends_on = depends_on
        return True


class _Ready(NamedTuple):
    """The response from one result of the cache until it expires, without the execution id."""

    result: "ref[Result]"
    until: datetime
    start: Message
    pieces: Pieces
    entry: QueryLogEntry


class KnownRequests:
    """Remembers requests with their plans and responds to them.

    Concurrency: used from one event loop.
    """

    def __init__(self, access: AccessService, runner: EndpointRunner, log: QueryLog) -> None:
        self._access = access
        self._runner = runner
        self._log = log
        self._heads = BoundedCache[Head, None](REMEMBERED)
        self._known = BoundedCache[tuple[Head, bytes], KnownRequest[Any]](REMEMBERED)

    async def answer(self, scope: Scope, receive: Receive) -> Answer | None:
        """The response, if the request is known and gets a plain one.

        Otherwise the route gets the known request from ``taken_over``.
        """
        try:
            known = await self._find(scope, receive)
        except HogletError as error:
            scope[_REFUSAL] = error  # raised by the route, whose layers add their headers
            return None
        if known is None:
            return None
        scope[_KNOWN] = known
        answer = self._from_cache(known)
        if answer is None:
            answer = await self._computed(known, scope, receive)
        if answer is not None:
            scope["endpoint"] = known.handler  # for metrics
        return answer

    async def _find(self, scope: Scope, receive: Receive) -> KnownRequest[Any] | None:
        """The request, if it is known and would be planned in the same way; counts it.

        The body is read only if the head is known.
        """
        head = scope[_HEAD] = _head_of(scope)
        if head not in self._heads:
            return None
        known = self._known.get((head, await receive_body(scope, receive)))
        if known is None or not await self._is_current(known):
            return None
        for bucket, allowance in known.limits:
            await self._access.rates.take(bucket, allowance)
        return known

    def _from_cache(self, known: KnownRequest[Any]) -> Answer | None:
        """The response from the result cache, if it has one that can be used; logs the run."""
        planned = known.planned
        if planned.run_request.refresh in FORCED:
            return None
        now = self._access.clock.now()
        result = self._runner.cache.get(planned.read_plan.key)
        ready = known.ready
        if result is None or ready is None or ready.result() is not result or now >= ready.until:
            ready = known.ready = self._prepared(known)
        if result is None or ready is None:
            return None
        execution_id = new_id_text()
        entry = msgspec.structs.replace(
            ready.entry, execution_id=execution_id, query_id=execution_id, started_at=now
        )
        self._log.add(entry)
        known.kind.executed(planned, now)
        if ready.start["status"] == 304:
            return Answer({**ready.start}, b"")
        rest = execution_id.encode().join(ready.pieces)
        body = b"".join((BODY_START, *result.parts.pieces(), rest))
        return Answer({**ready.start}, body)

    async def _computed(
        self, known: KnownRequest[Any], scope: Scope, receive: Receive
    ) -> Answer | None:
        """The response to a run that is computed now, unless it is one for the route."""
        planned = self.plan_of(known)
        if planned is None or not known.is_json or planned.run_request.refresh not in _COMPUTED:
            return None
        try:
            work = known.kind.run(known.scope, planned)
            outcome = await unless_disconnected(receive, work)
        except HogletError as error:
            scope[_REFUSAL] = error
            return None
        if outcome is None:
            return Answer(_start(CLIENT_CLOSED_REQUEST, [(b"content-length", b"0")]), b"")
        if not isinstance(outcome, RunResult) or outcome.result.rows_bytes >= LARGE_BYTES:
            scope[_OUTCOME] = outcome
            return None
        return _answer_of(known, outcome, with_etag=scope["method"] == "GET")

    def plan_of[P: Planned](self, known: KnownRequest[P]) -> P | None:
        """The plan to compute a known request with, unless it was for that moment only."""
        return known.planned if self._runner.is_reusable(known.planned.read_plan) else None

    def remember(self, request: Request, known: KnownRequest[Any]) -> None:
        """Remember a request that passed all checks, unless it is not expected again.

        Requests with overrides, a cursor or a query id of their own are not remembered, and none
        whose key is not in a header; a background run of a tenant always has a new id.
        """
        run_request = known.planned.run_request
        once = (
            run_request.filters_override,
            run_request.query_override,
            run_request.cursor,
            run_request.client_query_id,
        )
        head: Head | None = request.scope.get(_HEAD)
        body: bytes | None = request.scope.get(BODY)
        token = bearer_key(request.headers.get("authorization", ""))
        if head is None or body is None or token is None:
            return
        size = len(body) + sum(map(len, head[:3])) + sum(len(value) for _, value in head[3])
        if any(each is not None for each in once) or size > MAX_REQUEST_BYTES:
            return
        known.token, known.project_id = token, request.path_params["project_id"]
        if request.method == "GET":
            known.if_none_match = request.headers.get("if-none-match", "")
        self._heads.put(head, None)
        self._known.put((head, body), known)

    async def _is_current(self, known: KnownRequest[Any]) -> bool:
        """Whether caller, project and everything that the plan was made from are as they were.

        They are looked up again when a cache that they come from has expired or was cleared.
        """
        access, kind = self._access, known.kind
        times_cleared = access.times_cleared + kind.times_cleared()
        if known.times_cleared == times_cleared and monotonic() < known.valid_until:
            return True
        try:
            principal = await access.identify(known.token)
            if principal is None:
                return False
            project = await find_project(access, principal, known.project_id)
            if project is None:
                return False
            depends_on = await kind.depends_on(known.planned, project)
        except HogletError:  # the route says so
            return False
        if not known.is_of((principal, project, *depends_on.rows)):
            return False
        until = min(depends_on.until, access.cached_until(known.token, project.id))
        known.valid_until, known.times_cleared = until, times_cleared
        return True

    def _prepared(self, known: KnownRequest[Any]) -> _Ready | None:
        """The response from the result cache, if it has a result that can be used."""
        read_plan, run_request = known.planned.read_plan, known.planned.run_request
        result = self._runner.fresh(read_plan, run_request.refresh)
        cached = self._runner.cache.get(read_plan.key)
        if result is None or cached is None:
            return None
        if not known.is_json or result.rows_bytes >= LARGE_BYTES:
            return None
        scope = known.scope
        empty = RunResult(
            read_plan.target,
            replace(result, parts=JsonParts((b"[]",))),
            _NO_ID_TEXT,
            scope.project.timezone,
            is_cached=True,
            request=run_request,
        )
        entry = self._runner.hit_entry(scope, empty)
        until = _fresh_until(read_plan, run_request.refresh, result, self._access.clock.now())
        etag = etag_of(read_plan.target, result)
        if known.if_none_match and is_known(etag, known.if_none_match):
            headers = known.kind.headers(etag, None, is_cached=True)
            return _Ready(ref(cached), until, _start(304, headers), (), entry)
        end = known.kind.after_rows(empty)
        length = len(BODY_START) + result.rows_bytes + len(end)
        headers = known.kind.headers(etag, result, is_cached=True)
        pieces = _around_id(end) if known.kind.has_execution_id else (end,)
        return _Ready(ref(cached), until, _start_of_json(headers, length), pieces, entry)


def _fresh_until(read_plan: ReadPlan, refresh: str, result: Result, now: datetime) -> datetime:
    """When a result that is fresh now can no longer be used."""
    ends = _END_OF_TIME
    if refresh != "force_cache":
        ends = result.ends(times=2 if refresh == "lazy_async" else 1)
    if read_plan.materialization is None:
        return ends
    return min(ends, now + timedelta(seconds=read_plan.materialization.seconds_left(now)))


def _start(status: int, headers: Headers) -> Message:
    return {"type": "http.response.start", "status": status, "headers": headers}


def _start_of_json(headers: Headers, length: int) -> Message:
    described = [(b"content-length", b"%d" % length), (b"content-type", JSON.encode())]
    return _start(200, headers + described)


def _answer_of(known: KnownRequest[Any], answer: RunResult, *, with_etag: bool) -> Answer:
    """The response to a run that was computed."""
    result = answer.result
    etag = etag_of(answer.target, result) if with_etag else None
    if etag is not None and known.if_none_match and is_known(etag, known.if_none_match):
        return Answer(_start(304, known.kind.headers(etag, None, is_cached=False)), b"")
    headers = known.kind.headers(etag, result, is_cached=answer.is_cached)
    body = b"".join((BODY_START, *result.parts.pieces(), known.kind.after_rows(answer)))
    return Answer(_start_of_json(headers, len(body)), body)


def _head_of(scope: Scope) -> Head:
    headers = tuple([each for each in scope["headers"] if each[0] in _DECIDING])
    return scope["method"], scope["path"], scope["query_string"], headers


def taken_over(request: Request) -> KnownRequest[Any] | None:
    """The known request that the fast path passed on: authorized, counted, its body read.

    Raises:
        HogletError: the fast path found that it must be refused.
    """
    refusal: HogletError | None = request.scope.get(_REFUSAL)
    if refusal is not None:
        raise refusal
    return request.scope.get(_KNOWN)


def outcome_of(request: Request) -> Any:
    """What the fast path has computed for the known request, if it has: the outcome of its kind."""
    return request.scope.get(_OUTCOME)


def _around_id(end: bytes) -> Pieces:
    """The end of an endpoint's body before and after the execution id."""
    before, _, after = end.rpartition(_NO_ID_TEXT.encode())
    return before, after
