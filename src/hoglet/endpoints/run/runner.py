"""Runs endpoints: decides whether a cached result suffices, computes, and shares computations.

Source: docs/spec/query-endpoints.md#53-refresh and
docs/spec/query-endpoints.md#55-which-source-is-read-and-the-cache.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from msgspec.structs import replace

from hoglet.access.principals import Project, ProjectScope
from hoglet.access.variables import InsightVariable, list_variables
from hoglet.endpoints import errors
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.query_log.log import QueryLog, QueryLogEntry
from hoglet.endpoints.run.cache import Result, ResultCache
from hoglet.endpoints.run.cancellation import CancellableRuns, CancelRequests
from hoglet.endpoints.run.cursors import Cursors
from hoglet.endpoints.run.executor import QueryExecutor
from hoglet.endpoints.run.plan import (
    ReadPlan,
    effective_ttl_seconds,
    fall_back_to_inline,
    plan_read,
)
from hoglet.endpoints.run.request import check_run
from hoglet.endpoints.run.response import NeedsBackground, RunResult
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.schemas import RunRequest
from hoglet.endpoints.settings import EndpointSettings
from hoglet.endpoints.worker.query_errors import as_query_error
from hoglet.kit.cache import SingleFlight, TTLCache
from hoglet.kit.clock import Clock, new_id_text
from hoglet.kit.errors import CostExceeded, HogletError, Throttled
from hoglet.store.database import Database
from hoglet.warehouse.errors import QueryCancelled

_VARIABLES_SECONDS = 2.0
FORCED = frozenset({"force", "force_blocking", "direct"})
"""Refresh modes that do not use the cache."""
_BACKGROUND = frozenset({"async", "lazy_async", "force_async"})


class _Failure(NamedTuple):
    """An error for the query log; without a time if nothing was computed."""

    error: HogletError
    seconds: float = 0.0
    is_materialized: bool = False

    @classmethod
    def of(cls, error: HogletError, read_plan: ReadPlan, started: float) -> "_Failure":
        """The failure of a computation that began at ``started`` of ``perf_counter``."""
        return cls(error, perf_counter() - started, read_plan.materialization is not None)


class EndpointRunner:
    """Serves runs from cache, table or raw data.

    Concurrency: identical concurrent runs are computed once.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        executor: QueryExecutor,
        log: QueryLog,
        settings: EndpointSettings,
        *,
        cursors: Cursors,
    ) -> None:
        self._clock = clock
        self._executor = executor
        self._log = log
        self._run_seconds = settings.capped_run_seconds
        self.cache = ResultCache(settings.cache_bytes)
        self.cursors = cursors
        self.cancellable = CancellableRuns(CancelRequests(database, clock))
        self._shared_runs = SingleFlight[str, Result]()
        self._database = database
        self._variables = TTLCache(self._load_variables, seconds=_VARIABLES_SECONDS)
        self.times_cleared = 0

    async def run(
        self, scope: ProjectScope, read_plan: ReadPlan, request: RunRequest
    ) -> RunResult | NeedsBackground:
        """Execute a run validated by ``check``.

        Raises:
            QueryError: docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation row 13;
            CostExceeded: row 15; Throttled, Unavailable: later.
        """
        target = read_plan.target
        cached = self._cached(read_plan, request.refresh)
        if cached is not None:
            answer = self._from_cache(read_plan, cached, request)
            self._log_run(scope.user_id, answer, request, 0.0)
            return answer
        if request.refresh in _BACKGROUND:
            return NeedsBackground(target, request)
        started = perf_counter()
        try:
            with self._announced(target, request):
                return await self._compute_planned(read_plan, request, scope.user_id)
        except asyncio.CancelledError:
            error = errors.RunCancelled("The client disconnected, or the server is shutting down.")
            failure = _Failure.of(error, read_plan, started)
            self._log_failure(scope.user_id, target, request, failure)
            raise

    async def check(self, scope: ProjectScope, target: RunTarget, request: RunRequest) -> ReadPlan:
        """Validate a run and plan what it computes.

        Raises:
            Invalid: a case of docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation,
                rows 9 to 12, or a value of the wrong type.
        """
        try:
            known = await self._known_variables(scope.project, target)
            check_run(target, request, scope.principal, known)
            read_plan = plan_read(scope.project, target, request, known, self._clock.now())
            if request.cursor is not None:
                self.cursors.check(read_plan, request.cursor)
        except HogletError as error:
            self._log_failure(scope.user_id, target, request, _Failure(error))
            raise
        return read_plan

    def fresh(self, read_plan: ReadPlan, refresh: str) -> Result | None:
        """The cached result, if it can be used without a background refresh."""
        now = self._clock.now()
        if read_plan.is_expired(now):
            return None
        result = self._cached(read_plan, refresh)
        stale = refresh == "async_except_on_cache_miss" and result and not result.is_fresh(now)
        return None if stale else result

    def is_reusable(self, read_plan: ReadPlan) -> bool:
        """Whether a plan that was made earlier is the one that would be made now."""
        return read_plan.is_reusable and not read_plan.is_expired(self._clock.now())

    def hit_entry(self, scope: ProjectScope, answer: RunResult) -> QueryLogEntry:
        """The query log's entry of a run that is served from the cache."""
        return self._entry_of(scope.user_id, answer, answer.request, 0.0)

    async def compute(
        self,
        project: Project,
        target: RunTarget,
        request: RunRequest,
        *,
        user_id: int | None,
        execution_id: UUID | None = None,
        seconds: float | None = None,
    ) -> RunResult:
        """Plan and compute a run (or join an identical one) and log it."""
        with self._announced(target, request):
            read_plan = await self.plan(project, target, request)
            query_id = None if execution_id is None else str(execution_id)
            return await self._compute_planned(
                read_plan, request, user_id, query_id=query_id, seconds=seconds
            )

    async def _compute_planned(
        self,
        read_plan: ReadPlan,
        request: RunRequest,
        user_id: int | None,
        *,
        query_id: str | None = None,
        seconds: float | None = None,
    ) -> RunResult:
        query_id, seconds = query_id or new_id_text(), seconds or self._run_seconds
        started = perf_counter()
        try:
            result = await self._cancellable(read_plan, request, query_id, seconds)
        except HogletError as error:
            overrides = request.filters_override, request.query_override
            public = errors.in_words_of_run(as_query_error(error), *overrides)
            failure = _Failure.of(public, read_plan, started)
            self._log_failure(user_id, read_plan.target, request, failure, execution_id=query_id)
            raise public from error
        answer = RunResult(
            read_plan.target,
            result,
            query_id,
            read_plan.project.timezone,
            is_cached=result.is_joined,
            request=request,
            next_cursor=self._cursor_after(read_plan, result),
        )
        self._log_run(user_id, answer, request, perf_counter() - started)
        return answer

    async def cancel(
        self,
        endpoint_id: UUID,
        query_id: str,
        *,
        execution_id: UUID | None = None,
        elsewhere: bool = True,
    ) -> bool:
        """Stop the runs with this id and wait until the engine has ended them.

        Args:
            endpoint_id: the endpoint.
            query_id: the ``client_query_id`` of the run.
            execution_id: the id of a background run's query in the engine.
            elsewhere: also ask other servers, which takes two seconds if none has the run.

        Returns:
            Whether there was a waiting run, or one in this process.
        """
        stopped = await self.cancellable.cancel(endpoint_id, query_id)
        if not stopped and execution_id is not None:
            await self._executor.stop(str(execution_id))
        elif not stopped and elsewhere:
            stopped = await self.cancellable.cancel_elsewhere(endpoint_id, query_id)
        return stopped

    def _announced(self, target: RunTarget, request: RunRequest) -> AbstractContextManager[None]:
        """Announce a run whose caller chose an id to cancel it by."""
        if request.client_query_id is None:
            return nullcontext()
        return self.cancellable.announced(target.endpoint_id, request.client_query_id)

    def _cancellable(
        self, read_plan: ReadPlan, request: RunRequest, query_id: str, seconds: float
    ) -> Coroutine[Any, Any, Result]:
        work = self._compute(read_plan, request, query_id, seconds)
        if request.client_query_id is None:
            return work
        endpoint_id = read_plan.target.endpoint_id
        return self.cancellable.watch(endpoint_id, request.client_query_id, work)

    def _cursor_after(self, read_plan: ReadPlan, result: Result) -> str | None:
        return None if result.next_key is None else self.cursors.encrypt(read_plan, result.next_key)

    async def _compute(
        self, read_plan: ReadPlan, request: RunRequest, query_id: str, seconds: float
    ) -> Result:
        try:
            return await self._compute_or_join(read_plan, request.refresh, query_id, seconds)
        except (CostExceeded, Throttled, QueryCancelled):
            raise
        except HogletError:
            if read_plan.materialization is None:
                raise
        inline = fall_back_to_inline(read_plan, request)
        return await self._compute_or_join(inline, request.refresh, query_id, seconds)

    async def _compute_or_join(
        self, read_plan: ReadPlan, refresh: str, query_id: str, seconds: float
    ) -> Result:
        """The result of this run, or of an identical one in progress."""
        mine = False

        async def compute() -> Result:
            nonlocal mine
            mine = True
            result = await self._executor.compute(read_plan, query_id=query_id, seconds=seconds)
            if not result.is_live:
                self.cache.put(read_plan.key, result)
            return result

        if refresh in FORCED:
            return await compute()
        result = await self._shared_runs.join(read_plan.key, compute)
        if result.is_live and not mine:  # the run that computed it may have had other scopes
            return await compute()
        return result if mine else replace(_with_ttl(read_plan, result), is_joined=True)

    async def plan(self, project: Project, target: RunTarget, request: RunRequest) -> ReadPlan:
        """The plan of a run: its source, values and cache key."""
        known = await self._known_variables(project, target)
        return plan_read(project, target, request, known, self._clock.now())

    async def _known_variables(self, project: Project, target: RunTarget) -> list[InsightVariable]:
        if target.query["kind"] == HOGQL and target.query.get("variables"):
            return list(await self.variables(project.id))
        return []

    def _cached(self, read_plan: ReadPlan, refresh: str) -> Result | None:
        """The cached result, if it suffices for this refresh mode."""
        if refresh in FORCED or refresh == "force_async":
            return None
        result = self.cache.get(read_plan.key)
        if result is None:
            return None
        result = _with_ttl(read_plan, result)
        if refresh in ("force_cache", "async_except_on_cache_miss"):
            return result
        now = self._clock.now()
        return result if result.is_fresh(now, times=2 if refresh == "lazy_async" else 1) else None

    def _from_cache(self, read_plan: ReadPlan, result: Result, request: RunRequest) -> RunResult:
        stale = request.refresh == "async_except_on_cache_miss" and not result.is_fresh(
            self._clock.now()
        )
        return RunResult(
            read_plan.target,
            result,
            new_id_text(),
            read_plan.project.timezone,
            is_cached=True,
            request=request,
            stale=stale,
            next_cursor=self._cursor_after(read_plan, result),
        )

    async def variables(self, project_id: int) -> list[InsightVariable]:
        """The project's variables, cached for two seconds."""
        known = await self._variables.get(project_id)
        return [] if known is None else known

    def variables_cached_until(self, project_id: int) -> float:
        """How long the project's variables are cached, on the monotonic clock."""
        return self._variables.expires_at(project_id)

    async def _load_variables(self, project_id: int) -> list[InsightVariable]:
        async with self._database.read() as session:
            return await list_variables(session, project_id)

    def forget(self) -> None:
        """Clear the cache of the project's variables."""
        self.times_cleared += 1
        self._variables.forget()

    def _log_run(
        self, user_id: int | None, answer: RunResult, request: RunRequest, seconds: float
    ) -> None:
        self._log.add(self._entry_of(user_id, answer, request, seconds))

    def _entry_of(
        self, user_id: int | None, answer: RunResult, request: RunRequest, seconds: float
    ) -> QueryLogEntry:
        entry = self._entry(answer.target, request, answer.execution_id, user_id)
        result = answer.result
        return msgspec.structs.replace(
            entry,
            seconds=seconds,
            rows=result.row_count,
            rows_read=0 if answer.is_cached else result.rows_read,
            bytes_read=0 if answer.is_cached else result.bytes_read,
            is_cached=answer.is_cached,
            is_materialized=result.is_materialized,
        )

    def _log_failure(
        self,
        user_id: int | None,
        target: RunTarget,
        request: RunRequest,
        failure: _Failure,
        *,
        execution_id: str | None = None,
    ) -> None:
        entry = self._entry(target, request, execution_id or new_id_text(), user_id)
        self._log.add(
            msgspec.structs.replace(
                entry,
                seconds=failure.seconds,
                is_materialized=failure.is_materialized,
                error=str(failure.error),
            )
        )

    def _entry(
        self, target: RunTarget, request: RunRequest, execution_id: str, user_id: int | None
    ) -> QueryLogEntry:
        return QueryLogEntry.of(
            target,
            request,
            execution_id=execution_id,
            started_at=self._clock.now(),
            user_id=user_id,
        )


def _with_ttl(read_plan: ReadPlan, result: Result) -> Result:
    """A result with the current cache time of this endpoint.

    Identical queries share results even if their cache times differ or have changed.
    """
    seconds = effective_ttl_seconds(read_plan, result.computed_at)
    return result if result.cache_seconds == seconds else replace(result, cache_seconds=seconds)
