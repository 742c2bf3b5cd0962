"""What the server sends to compile workers, and what they return.

The sandbox encodes these structs as plain values; each side converts what it receives.
"""

from datetime import datetime
from typing import Any

import msgspec

from hoglet.endpoints.analysis.model import Buckets
from hoglet.hogql.context import CohortRef, Limits, QueryContext, SavedTable
from hoglet.hogql.materialize.model import (
    BuildDecision,
    ChangedBuckets,
    ColumnRange,
    MergeableAggregate,
)
from hoglet.hogql.paging.keyset import WHOLE_RESULT, Key, RowPage
from hoglet.hogql.paging.limit import ResolvedLimit
from hoglet.hogql.query_json.nodes import QueryNode, VariableValues

type PropertyTypes = list[tuple[str, str, str]]
"""``[("event", "price", "Numeric")]``: kind and name of a property, and its type or form."""


class SchemaMessage(msgspec.Struct, frozen=True, kw_only=True):
    """What queries of a project can refer to; ``digest`` identifies the content.

    ``actions`` and ``cohorts`` are by id as text, see ``QueryContext``.
    """

    digest: str
    property_types: PropertyTypes
    property_forms: PropertyTypes
    text_columns: list[str]
    group_types: dict[str, int]
    actions: dict[str, dict[str, Any]]
    cohorts: dict[str, CohortRef]


class CompileContext(msgspec.Struct, frozen=True, kw_only=True):
    """The project that a query is compiled for.

    Attributes:
        project_id: the project.
        timezone: its time zone.
        week_start_day: 0 for Sunday, 1 for Monday.
        schema: its properties, groups, actions and cohorts.
        saved_tables: the tables of materialized endpoints by name in FROM.
        test_account_filters: property filters, as stored.
        unlimited: no limit of rows.
        readable_system_tables: e.g. ``system.actions``.
        now: the time of the compilation; None in cache keys.
        is_now_pinned: whether ``now`` is also the ``now()`` of the query.
        is_sharded: whether tables are distributed over shards.
    """

    project_id: int
    timezone: str
    week_start_day: int
    schema: SchemaMessage
    saved_tables: dict[str, SavedTable]
    test_account_filters: list[dict[str, Any]]
    unlimited: bool
    readable_system_tables: list[str]
    now: datetime | None = None
    is_now_pinned: bool = False
    is_sharded: bool = False

    def query_context(self) -> QueryContext:
        """The compiler's form.

        Raises:
            ValueError: the context has no time.
        """
        if self.now is None:
            raise ValueError("the context has no time")
        schema = self.schema
        return QueryContext(
            project_id=self.project_id,
            timezone=self.timezone,
            week_start_day=self.week_start_day,
            property_types={(kind, name): type_ for kind, name, type_ in schema.property_types},
            property_forms={(kind, name): form for kind, name, form in schema.property_forms},
            text_columns=frozenset(schema.text_columns),
            group_types=schema.group_types,
            actions=schema.actions,
            cohorts=schema.cohorts,
            saved_tables=self.saved_tables,
            test_account_filters=tuple(self.test_account_filters),
            readable_system_tables=frozenset(self.readable_system_tables),
            now=self.now,
            is_now_pinned=self.is_now_pinned,
            is_sharded=self.is_sharded,
            limits=Limits(max_limit=None) if self.unlimited else Limits(),
        )


class CompileRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A query to compile.

    Attributes:
        query: as stored.
        context: its project; None in cache keys.
        variables: values by code name, typed.
        page: the rows to read.
        buckets: the rounding of range variables of a table, by column.
        changes: the buckets of a table to compute again; None for all.
        table: the name of the table in a preview.
    """

    query: QueryNode
    context: CompileContext | None = None
    variables: VariableValues = {}
    page: RowPage = WHOLE_RESULT
    buckets: Buckets | None = None
    changes: ChangedBuckets | None = None
    table: str = ""

    def query_context(self) -> QueryContext:
        """The compiler's form of the context.

        Raises:
            ValueError: the request has none.
        """
        if self.context is None:
            raise ValueError("the request has no context")
        return self.context.query_context()


class ExplainRequest(msgspec.Struct, frozen=True):
    """An error of the engine, to be explained in terms of the query."""

    query: QueryNode
    message: str
    code: str


class EndpointSql(msgspec.Struct, frozen=True):
    """A compiled query; ``columns`` are ``[("count()", "integer")]``.

    ``keys`` is the sort order for cursors; ``filtered`` are the table columns that runs filter by;
    ``system_tables`` are those whose rows must be bound, e.g. ``system.actions``; ``state`` reads
    the current state of the buckets of a table that can be built incrementally;
    ``text_properties`` are the event properties that are read as text and always are text;
    ``rounded`` are the range variables that a read of a table rounds, ``{"since": "day"}``.
    """

    sql: str
    params: dict[str, Any]
    columns: list[tuple[str, str]]
    hogql: str
    limits: ResolvedLimit
    keys: tuple[Key, ...] = ()
    filtered: list[str] = []
    system_tables: list[str] = []
    text_properties: list[str] = []
    state: "EndpointSql | None" = None
    rounded: dict[str, str] = {}


class InsightSql(msgspec.Struct, frozen=True):
    """The compiled queries of an insight, and the dates that its range resolved to."""

    queries: list[EndpointSql]
    date_range: dict[str, str]


class MaterializationPreview(msgspec.Struct, frozen=True, kw_only=True):
    """How a query would be materialized; ``reason_code`` and ``build`` only where there is one.

    Source: docs/spec/query-endpoints.md#76-preview.
    """

    can_materialize: bool
    reason: str | None
    transformed_query: str | None = None
    execution_query: str | None = None
    display_execution_query: str | None = None
    range_pairs: tuple[ColumnRange, ...] = ()
    aggregates: tuple[MergeableAggregate, ...] = ()
    reason_code: str | msgspec.UnsetType = msgspec.UNSET
    build: BuildDecision | msgspec.UnsetType = msgspec.UNSET


TABLE = "materialized_table"
