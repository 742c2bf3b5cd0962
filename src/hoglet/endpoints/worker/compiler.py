"""Compiles HogQL to SQL in the sandbox, with a cache.

Compiling takes about a millisecond and a round trip to a worker; saved queries run repeatedly with
few different values, so results are cached by everything they depend on.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
import orjson

from hoglet.access.principals import Project
from hoglet.endpoints.materialization.catalog import MaterializedTables
from hoglet.endpoints.worker import operations
from hoglet.endpoints.worker.operations import TABLE
from hoglet.hogql.context import CohortRef
from hoglet.hogql.materialize.incremental import ChangedBuckets
from hoglet.hogql.paging.keyset import Key
from hoglet.hogql.paging.limit import ResolvedLimit
from hoglet.kit.cache import BoundedCache
from hoglet.kit.clock import Clock, PinnedClock
from hoglet.kit.errors import HogletError, Invalid
from hoglet.sandbox import Operation, Sandbox, SandboxCrashed, SandboxTimedOut, operation_path
from hoglet.warehouse.errors import QueryRefused

type Json = dict[str, Any]

COMPILE_SECONDS = 5.0
REMEMBERED = 2_000
_NAMED_BY_SCHEMA = {"property_types", "property_forms", "group_types", "actions", "cohorts"}
RELATIVE_DATES_SECONDS = 30  # how long a compilation that used the clock is valid


@dataclass(frozen=True)
class ProjectSchema:
    """What queries of a project can refer to.

    ``property_types`` is ``{("event", "price"): "Numeric"}``, ``property_forms``
    ``{("event", "price"): "number"}`` if all values have one JSON form, ``group_types`` is
    ``{"company": 0}``, ``actions`` ``{"7": {"name": "Signed up", "steps": [...]}}``, ``cohorts``
    ``{"12": CohortRef("Paying", 31)}``: any other cohort is refused.
    """

    property_types: Mapping[tuple[str, str], str] = field(
        default_factory=dict[tuple[str, str], str]
    )
    property_forms: Mapping[tuple[str, str], str] = field(
        default_factory=dict[tuple[str, str], str]
    )
    group_types: Mapping[str, int] = field(default_factory=dict[str, int])
    actions: Mapping[str, Json] = field(default_factory=dict[str, Json])
    cohorts: Mapping[str, CohortRef] = field(default_factory=dict[str, CohortRef])

    @cached_property
    def plain(self) -> Json:
        """The form sent to workers; ``schema`` identifies the content, which can be large."""
        parts: Json = {
            "property_types": [
                [kind, name, type_] for (kind, name), type_ in self.property_types.items()
            ],
            "property_forms": [
                [kind, name, form] for (kind, name), form in self.property_forms.items()
            ],
            "group_types": dict(self.group_types),
            "actions": dict(self.actions),
            "cohorts": msgspec.to_builtins(self.cohorts),
        }
        digest = sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS, default=str))
        return parts | {"schema": digest.hexdigest()}


type SchemaOf = Callable[[Project], Awaitable[ProjectSchema]]


class RowPage(NamedTuple):
    """Rows of a result: at most ``limit`` after ``offset``, or after ``seek`` of a cursor.

    ``seek`` is ``{"after": [...]}``.
    """

    limit: int | None = None
    offset: int | None = None
    seek: Json | None = None


FIRST_PAGE = RowPage()


class EndpointSql(msgspec.Struct, frozen=True):
    """A compiled query; ``columns`` are ``[("count()", "integer")]``.

    ``keys`` is the sort order for cursors; ``filtered`` are the table columns that runs filter by;
    ``system_tables`` are those whose rows must be bound, e.g. ``system.actions``; ``state`` reads
    the present state of the buckets of a table that can be built incrementally.
    """

    sql: str
    params: dict[str, Any]
    columns: list[tuple[str, str]]
    hogql: str
    limits: ResolvedLimit
    keys: list[Key] = []
    filtered: list[str] = []
    system_tables: list[str] = []
    state: "EndpointSql | None" = None


class CompiledInsight(msgspec.Struct, frozen=True):
    """Compiled queries of an insight; ``context`` is needed again to build its results."""

    queries: list[EndpointSql]
    date_range: dict[str, str]
    context: dict[str, Any]


class QueryCompiler:
    """Compiles queries of projects.

    Args:
        sandbox: parses untrusted text.
        clock: for relative dates.
        schema_of: property types and group types of a project.
        tables: the project's materialized endpoints.
    """

    def __init__(
        self, sandbox: Sandbox, clock: Clock, schema_of: SchemaOf, tables: MaterializedTables
    ) -> None:
        self._sandbox = sandbox
        self._clock = clock
        self._schema_of = schema_of
        self._tables = tables
        self._known = BoundedCache[bytes, tuple[float, EndpointSql]](REMEMBERED)

    async def compile(
        self,
        project: Project,
        query: Json,
        *,
        variables: Json,
        page: RowPage = FIRST_PAGE,
        system_tables: Sequence[str] = (),
    ) -> EndpointSql:
        """Compile a HogQL query with typed values to SQL on the raw data.

        Args:
            project: the project.
            query: e.g. ``{"kind": "HogQLQuery", "query": "SELECT 1"}``.
            variables: values by code name.
            page: which rows.
            system_tables: tables that the caller may read, e.g. ``system.actions``.

        Raises:
            SourceError: the query is invalid; the code is one of
            docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation row 13.
            Invalid: it is too costly to parse.
        """
        payload = {
            "query": query,
            "variables": variables,
            "limit": page.limit,
            "offset": page.offset,
            "seek": page.seek,
        }
        context = await self.context(project, system_tables=system_tables)
        return await self._compile(operations.compile_run, payload, context)

    async def compile_read(
        self,
        project: Project,
        query: Json,
        table: Json,
        *,
        variables: Json,
        buckets: Json | None,
        page: RowPage,
    ) -> EndpointSql:
        """Compile a run on the table of a materialized query.

        ``table`` is ``{"physical": "endpoint_table_…", "columns": [["day", {"name": "Date"}]]}``,
        ``buckets`` the rounding of range variables, by column.
        """
        payload = {
            "query": query,
            "variables": variables,
            "limit": page.limit,
            "offset": page.offset,
            "buckets": buckets,
            "seek": page.seek,
        }
        context = await self.context(project) | {"saved_tables": {TABLE: table}}
        return await self._compile(operations.compile_read, payload, context)

    async def compile_build(
        self,
        project: Project,
        query: Json,
        *,
        variables: Json,
        buckets: Json | None,
        changes: ChangedBuckets | None = None,
    ) -> EndpointSql:
        """Compile the query that fills a table; without a limit of rows.

        With ``changes`` it computes the rows of the changed buckets only.
        """
        payload = {
            "query": query,
            "variables": variables,
            "buckets": buckets,
            "changes": None if changes is None else msgspec.to_builtins(changes),
        }
        context = await self.context(project, unlimited=True)
        return await self._compile(operations.compile_build, payload, context)

    async def compile_insight(
        self, project: Project, query: Json, *, system_tables: Sequence[str] = ()
    ) -> CompiledInsight:
        """Compile the queries of an insight on the raw data; relative dates use the clock.

        ``system_tables`` are those that the caller may read, in filters and formulas of HogQL.
        """
        context = self.stamped(
            await self.context(project, unlimited=True, system_tables=system_tables)
        )
        answer = await self.call(
            operations.compile_insight, {"query": query, "context": context, "variables": {}}
        )
        return msgspec.convert(answer | {"context": context}, CompiledInsight)

    async def _compile(self, operation: Operation, payload: Json, context: Json) -> EndpointSql:
        told = {name: part for name, part in context.items() if name not in _NAMED_BY_SCHEMA}
        parts = [operation_path(operation), payload, told]
        key = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS, default=str)
        now = self._clock.now().timestamp()
        remembered = self._known.get(key)
        if remembered is not None and remembered[0] > now:
            self._known.move_to_end(key)
            return remembered[1]
        answer = await self.call(operation, payload | {"context": self.stamped(context)})
        compiled = msgspec.convert(answer, EndpointSql)
        self._known.put(key, (now + RELATIVE_DATES_SECONDS, compiled))
        return compiled

    async def explained(self, query: Json, error: QueryRefused) -> HogletError:
        """Translate an engine error to HogQL terms, with a position in the query's text.

        Errors of insights have a position if one of their HogQL expressions is invalid.
        """
        payload = {"query": query, "message": error.detail, "code": error.error_code}
        try:
            await self.call(operations.explain_refusal, payload)
        except HogletError as explained:
            return explained
        return error

    async def call(self, operation: Operation, payload: Json) -> Any:
        """Call an operation in a worker."""
        try:
            return await self._sandbox.call(operation, payload, deadline=COMPILE_SECONDS)
        except (SandboxTimedOut, SandboxCrashed):
            raise Invalid("The query is too large or too deeply nested to be parsed.") from None

    async def context(
        self, project: Project, *, unlimited: bool = False, system_tables: Sequence[str] = ()
    ) -> Json:
        """The project's context for workers; without ``now``, which every call adds."""
        schema = await self._schema_of(project)
        return schema.plain | {
            "project_id": project.id,
            "timezone": project.timezone,
            "week_start_day": project.week_start_day,
            "saved_tables": await self._tables.of(project.id),
            "test_account_filters": project.test_account_filters,
            "unlimited": unlimited,
            "readable_system_tables": list(system_tables),
        }

    def stamped(self, context: Json) -> Json:
        """A context with the current time."""
        now = self._clock.now().isoformat()
        return context | {"now": now, "is_now_pinned": isinstance(self._clock, PinnedClock)}
