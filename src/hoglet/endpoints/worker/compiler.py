"""Compiles HogQL to SQL in the sandbox, with a cache.

Compiling takes about a millisecond and a round trip to a worker; saved queries run repeatedly with
few different values, so results are cached by everything they depend on.
"""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from hashlib import sha256
from operator import is_
from types import NoneType
from typing import Any, NamedTuple

import msgspec

from hoglet.access.principals import Project
from hoglet.endpoints.analysis.model import Buckets
from hoglet.endpoints.run.targets import MaterializedTables
from hoglet.endpoints.worker.messages import (
    TABLE,
    CompileContext,
    CompileRequest,
    EndpointSql,
    ExplainRequest,
    InsightSql,
    SchemaMessage,
)
from hoglet.hogql.context import CohortRef, SavedTable
from hoglet.hogql.materialize.model import ChangedBuckets
from hoglet.hogql.paging.keyset import WHOLE_RESULT, RowPage
from hoglet.hogql.query_json.nodes import QueryNode, VariableValues
from hoglet.kit import tracing
from hoglet.kit.cache import BoundedCache, SingleFlight
from hoglet.kit.clock import Clock, PinnedClock
from hoglet.kit.errors import HogletError, Invalid
from hoglet.sandbox import Operation, Sandbox, SandboxCrashed, SandboxTimedOut
from hoglet.warehouse.errors import QueryRefused

SCHEMA_SECONDS = 2.0  # how long queries may miss the type of a new property
COMPILE_SECONDS = 5.0
REMEMBERED = 2_000
RELATIVE_DATES_SECONDS = 30  # how long a compilation that used the clock is valid
_encoder = msgspec.json.Encoder(order="sorted", enc_hook=str)
# Paths, so that the server does not import the compiler.
_RUN = "hoglet.endpoints.worker.operations:compile_run"
_READ = "hoglet.endpoints.worker.operations:compile_read"
_BUILD = "hoglet.endpoints.worker.operations:compile_build"
_INSIGHT = "hoglet.endpoints.worker.operations:compile_insight"
_EXPLAIN = "hoglet.endpoints.worker.operations:explain_refusal"


class ProjectSchema(msgspec.Struct, frozen=True, dict=True):
    """What queries of a project can refer to.

    ``property_types`` is ``{("event", "price"): "Numeric"}``, ``property_forms``
    ``{("event", "price"): "integer"}`` if all values have one JSON form, ``text_columns``
    are event properties of the form ``text`` that have a column, ``group_types`` is
    ``{"company": 0}``, ``actions`` ``{"7": {"name": "Signed up", "steps": [...]}}``, ``cohorts``
    ``{"12": CohortRef("Paying", 31)}``; queries of other cohorts are refused.
    """

    property_types: Mapping[tuple[str, str], str] = msgspec.field(
        default_factory=dict[tuple[str, str], str]
    )
    property_forms: Mapping[tuple[str, str], str] = msgspec.field(
        default_factory=dict[tuple[str, str], str]
    )
    text_columns: Collection[str] = ()
    group_types: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])
    actions: Mapping[str, Mapping[str, Any]] = msgspec.field(
        default_factory=dict[str, Mapping[str, Any]]
    )
    cohorts: Mapping[str, CohortRef] = msgspec.field(default_factory=dict[str, CohortRef])

    @cached_property
    def message(self) -> SchemaMessage:
        """The form sent to workers, which can be large."""
        parts = SchemaMessage(
            digest="",
            property_types=[(*key, type_) for key, type_ in self.property_types.items()],
            property_forms=[(*key, form) for key, form in self.property_forms.items()],
            text_columns=sorted(self.text_columns),
            group_types=dict(self.group_types),
            actions={number: dict(action) for number, action in self.actions.items()},
            cohorts=dict(self.cohorts),
        )
        return msgspec.structs.replace(parts, digest=sha256(_encoder.encode(parts)).hexdigest())


type SchemaOf = Callable[[Project], Awaitable[ProjectSchema]]


class _Loaded(msgspec.Struct):
    """A project's schema; not current while it is being loaded."""

    version: int
    at: float | None = None
    schema: ProjectSchema = msgspec.field(default_factory=ProjectSchema)

    def is_current(self, project: Project) -> bool:
        return (
            self.version == project.definitions_version
            and self.at is not None
            and time.monotonic() - self.at < SCHEMA_SECONDS
        )


class ProjectSchemas:
    """The schemas of projects, cached for two seconds."""

    def __init__(self, load: SchemaOf) -> None:
        self._load = load
        self._known: dict[int, _Loaded] = {}
        self._loading = SingleFlight[tuple[int, int], ProjectSchema]()

    async def get(self, project: Project) -> ProjectSchema:
        """The schema of a project.

        It is up to two seconds old if another process stores the events. A changed type takes
        effect at once, because it changes the project's ``definitions_version``.
        """
        known = self._known.get(project.id)
        if known is not None and known.is_current(project):
            return known.schema
        key = (project.id, project.definitions_version)
        return await self._loading.join(key, partial(self._loaded, project))

    def forget(self) -> None:
        """Clear the cache; call after a change of actions."""
        self._known.clear()
        self._loading = SingleFlight[tuple[int, int], ProjectSchema]()

    def forget_project(self, project_id: int) -> None:
        """Clear the cache of a project; call when properties were detected."""
        self._known.pop(project_id, None)
        self._loading = SingleFlight[tuple[int, int], ProjectSchema]()

    async def _loaded(self, project: Project) -> ProjectSchema:
        loading = self._known[project.id] = _Loaded(project.definitions_version)
        loading.schema = await self._load(project)
        loading.at = time.monotonic()
        return loading.schema


class CompiledInsight(msgspec.Struct, frozen=True):
    """Compiled queries of an insight; ``context`` is also needed to build its results."""

    queries: list[EndpointSql]
    date_range: dict[str, str]
    context: CompileContext


type CacheKey = tuple[str, bytes, bytes]
"""Operation, request and context."""
type ContextName = tuple[int, bool, tuple[str, ...]]
"""Project, whether the rows are unlimited, readable system tables."""


class _KnownContext(NamedTuple):
    """A context, its part of cache keys, and what it was made from, if that was remembered."""

    context: CompileContext
    key: bytes
    made_from: tuple[object, ...] = ()

    @classmethod
    def of(cls, context: CompileContext, made_from: tuple[object, ...] = ()) -> "_KnownContext":
        return cls(context, cache_key(context), made_from)


class QueryCompiler:
    """Compiles queries of projects.

    Args:
        sandbox: parses untrusted text.
        clock: the reference of relative dates.
        schema_of: property types and group types of a project.
        tables: the project's materialized endpoints.
        is_sharded: whether the warehouse is a cluster.
        text_reads: counts how often queries read the texts of event properties, by project and
            name.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        clock: Clock,
        schema_of: SchemaOf,
        tables: MaterializedTables,
        *,
        is_sharded: bool = False,
        text_reads: Counter[tuple[int, str]] | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._clock = clock
        self._schema_of = schema_of
        self._tables = tables
        self._is_sharded = is_sharded
        self._text_reads = Counter[tuple[int, str]]() if text_reads is None else text_reads
        self._known = BoundedCache[CacheKey, tuple[float, EndpointSql]](REMEMBERED)
        self._contexts = BoundedCache[ContextName, _KnownContext](REMEMBERED)

    async def compile(
        self,
        project: Project,
        query: QueryNode,
        *,
        variables: VariableValues,
        page: RowPage = WHOLE_RESULT,
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
        request = CompileRequest(query=query, variables=variables, page=page)
        known = await self._known_context(project, system_tables=system_tables)
        return await self._compile(_RUN, request, known)

    async def compile_read(
        self,
        project: Project,
        query: QueryNode,
        table: SavedTable,
        *,
        variables: VariableValues,
        buckets: Buckets | None,
        page: RowPage,
    ) -> EndpointSql:
        """Compile a run on the table of a materialized query.

        ``buckets`` is the rounding of range variables, by column.
        """
        request = CompileRequest(query=query, variables=variables, page=page, buckets=buckets)
        context = await self.context(project)
        context = msgspec.structs.replace(context, saved_tables={TABLE: table})
        return await self._compile(_READ, request, _KnownContext.of(context))

    async def compile_build(
        self,
        project: Project,
        query: QueryNode,
        *,
        variables: VariableValues,
        buckets: Buckets | None,
        changes: ChangedBuckets | None = None,
    ) -> EndpointSql:
        """Compile the query that fills a table; without a limit of rows.

        With ``changes``, it only computes the rows of the changed buckets.
        """
        request = CompileRequest(query=query, variables=variables, buckets=buckets, changes=changes)
        known = await self._known_context(project, unlimited=True)
        return await self._compile(_BUILD, request, known)

    async def compile_insight(
        self, project: Project, query: QueryNode, *, system_tables: Sequence[str] = ()
    ) -> CompiledInsight:
        """Compile the queries of an insight on the raw data; relative dates use the clock.

        ``system_tables`` are those that the caller may read, in filters and formulas of HogQL.
        """
        context = self.stamped(
            await self.context(project, unlimited=True, system_tables=system_tables)
        )
        request = CompileRequest(query=query, context=context)
        compiled = await self.call(_INSIGHT, request, InsightSql)
        for each in compiled.queries:
            self._count_reads(project.id, each)
        return CompiledInsight(compiled.queries, compiled.date_range, context)

    async def _compile(
        self, operation: str, request: CompileRequest, known: _KnownContext
    ) -> EndpointSql:
        context = known.context
        key = (operation, _encoder.encode(request), known.key)
        now = self._clock.now().timestamp()
        remembered = self._known.get(key)
        if remembered is not None and remembered[0] > now:
            self._known.move_to_end(key)
            self._count_reads(context.project_id, remembered[1])
            return remembered[1]
        request = msgspec.structs.replace(request, context=self.stamped(context))
        compiled = await self.call(operation, request, EndpointSql)
        self._known.put(key, (now + RELATIVE_DATES_SECONDS, compiled))
        self._count_reads(context.project_id, compiled)
        return compiled

    def _count_reads(self, project_id: int, compiled: EndpointSql) -> None:
        if compiled.text_properties:
            self._text_reads.update((project_id, name) for name in compiled.text_properties)

    async def explained(self, query: QueryNode, error: QueryRefused) -> HogletError:
        """Translate an engine error to HogQL terms, with a position in the query's text.

        Errors of insights have a position if one of their HogQL expressions is invalid.
        """
        request = ExplainRequest(query, error.detail, error.error_code)
        try:
            await self.call(_EXPLAIN, request, NoneType)
        except HogletError as explained:
            return explained
        return error

    async def call[Outcome](
        self, operation: Operation, request: msgspec.Struct, outcome: type[Outcome]
    ) -> Outcome:
        """Call an operation in a worker.

        Args:
            operation: the operation of this package, or of another one that uses its contexts.
            request: its message.
            outcome: what it returns.
        """
        try:
            with tracing.child("compile query"):
                answer = await self._sandbox.call(operation, request, deadline=COMPILE_SECONDS)
        except (SandboxTimedOut, SandboxCrashed):
            raise Invalid("The query is too large or too deeply nested to be parsed.") from None
        return msgspec.convert(answer, outcome)

    async def context(
        self, project: Project, *, unlimited: bool = False, system_tables: Sequence[str] = ()
    ) -> CompileContext:
        """The project's context for workers; without ``now``, which every call adds."""
        known = await self._known_context(project, unlimited=unlimited, system_tables=system_tables)
        return known.context

    async def _known_context(
        self, project: Project, *, unlimited: bool = False, system_tables: Sequence[str] = ()
    ) -> _KnownContext:
        """The context as it was last made, if project, schema and tables are the same objects."""
        schema, tables = await self._schema_of(project), await self._tables.of(project.id)
        made_from = (project, schema, tables)
        name = (project.id, unlimited, tuple(system_tables))
        known = self._contexts.get(name)
        if known is None or not all(map(is_, known.made_from, made_from)):
            context = self._new_context(
                project, schema, tables, unlimited=unlimited, system_tables=system_tables
            )
            known = _KnownContext.of(context, made_from)
            self._contexts.put(name, known)
        return known

    def _new_context(
        self,
        project: Project,
        schema: ProjectSchema,
        tables: dict[str, SavedTable],
        *,
        unlimited: bool,
        system_tables: Sequence[str],
    ) -> CompileContext:
        return CompileContext(
            project_id=project.id,
            timezone=project.timezone,
            week_start_day=project.week_start_day,
            schema=schema.message,
            saved_tables=tables,
            test_account_filters=project.test_account_filters,
            unlimited=unlimited,
            readable_system_tables=list(system_tables),
            is_sharded=self._is_sharded,
        )

    def stamped(self, context: CompileContext) -> CompileContext:
        """A context with the current time."""
        is_pinned = isinstance(self._clock, PinnedClock)
        return msgspec.structs.replace(context, now=self._clock.now(), is_now_pinned=is_pinned)


def cache_key(context: CompileContext) -> bytes:
    """Equal for equal contexts; of the schema, which can be large, it has the digest only."""
    schema = SchemaMessage(
        digest=context.schema.digest,
        property_types=[],
        property_forms=[],
        text_columns=[],
        group_types={},
        actions={},
        cohorts={},
    )
    return _encoder.encode(msgspec.structs.replace(context, schema=schema))
