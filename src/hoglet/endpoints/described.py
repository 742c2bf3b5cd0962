"""What the routes of endpoints take and answer, for the OpenAPI document of the API.

The document of one endpoint, with its own variables and columns, is ``openapi``'s.

Source: docs/spec/query-endpoints.md#2-records,
docs/spec/query-endpoints.md#3-create-and-update-bodies,
docs/spec/query-endpoints.md#5-run-rows-8-9, docs/spec/query-endpoints.md#7-materialization and
docs/spec/query-endpoints.md#9-last_execution_times.
"""

from typing import Any, Literal

from pydantic import Field

from hoglet.access.described import Page, UserObject
from hoglet.endpoints.enums import Bucket, RecordType, SyncWord
from hoglet.endpoints.schemas import (
    AliasBody,
    CreateBody,
    NamesBody,
    PreviewBody,
    RunBody,
    UpdateBody,
)
from hoglet.web.openapi import (
    PAGE,
    DocumentedResponse,
    OpenResponse,
    RouteDoc,
    flag,
    number,
    text,
)
from hoglet.web.paths import PROJECT_PREFIX

type Json = dict[str, Any]


class Column(DocumentedResponse):
    """A column of the results."""

    name: str
    type: RecordType


class Eligible(DocumentedResponse):
    """The materialization of a version that is not materialized."""

    can_materialize: bool
    reason: str | None
    reason_code: str | None
    enabled: Literal[False]
    ready: Literal[False]


class Materialized(DocumentedResponse):
    """The materialization of a version that is."""

    status: Literal["Running", "Completed", "Failed", "Modified", "Cancelled", "Unknown"]
    can_materialize: Literal[True]
    last_materialized_at: str | None
    error: str
    sync_frequency: SyncWord
    saved_query_id: str
    enabled: Literal[True]
    ready: bool
    stale_reason: Literal["property_type_changed"] | None = None


class NamedEligible(Eligible):
    """As ``Eligible``, with the endpoint's name."""

    name: str


class NamedMaterialized(Materialized):
    """As ``Materialized``, with the endpoint's name."""

    name: str


class Record(DocumentedResponse):
    """An endpoint with its current version."""

    id: str
    name: str
    description: str
    query: Json
    is_active: bool
    cache_age_seconds: int | None
    data_freshness_seconds: int
    sync_frequency: SyncWord | None
    endpoint_path: str
    url: str | None
    ui_url: str | None
    created_at: str
    updated_at: str
    created_by: UserObject | None
    is_materialized: bool
    current_version: int
    current_version_id: str
    versions_count: int
    derived_from_insight: str | None
    last_executed_at: str | None
    materialization: Eligible | Materialized
    bucket_overrides: dict[str, Bucket] | None
    columns: list[Column]
    tags: list[str]
    optional_breakdown_properties: list[str]
    aliases: dict[str, int] = Field(default={})


class Alias(DocumentedResponse):
    """A movable name of a version."""

    alias: str
    version: int
    created_at: str
    updated_at: str


class Change(DocumentedResponse):
    """A field that differs between two versions."""

    field: str
    a: Any
    b: Any


class Difference(DocumentedResponse):
    """What differs between two versions; the diff of the queries is unified."""

    a: int
    b: int
    query_diff: str
    changes: list[Change]


class Figures(DocumentedResponse):
    """Figures of some runs; shares are of those without an error, null without any."""

    count: int
    errors: int
    p50_ms: int | None
    p95_ms: int | None
    cache_hit_share: float | None
    materialized_share: float | None
    rows: int
    rows_read: int
    bytes_read: int


class DayFigures(Figures):
    """Figures of one day of the project's time zone."""

    day: str


class UsageAnswer(Figures):
    """Figures of an endpoint in a span, and of each of its days; ``version`` when asked for."""

    name: str
    version: int = Field(default=0)
    after: str
    before: str
    days: list[DayFigures]


class ChangedRecord(Record):
    """The answer of a change; the error is there when the new version could not be built."""

    materialization_error: str = Field(default="")


class Version(Record):
    """An endpoint with the values of one version."""

    version: int
    version_id: str
    endpoint_is_active: bool
    version_created_at: str
    version_updated_at: str
    version_created_by: UserObject | None


class Deleted(DocumentedResponse):
    """The endpoint is gone."""

    success: Literal[True]


class QueryStatus(OpenResponse):
    """How far a background run is."""

    id: str
    query_async: bool
    team_id: int
    complete: bool
    error: bool
    error_message: str | None
    results: list[Any] | None
    start_time: str | None
    end_time: str | None
    expiration_time: str | None
    labels: list[str] | None


class LastExecutions(DocumentedResponse):
    """When endpoints were last run."""

    query_status: QueryStatus


class Accepted(DocumentedResponse):
    """A run that is still to be done."""

    query_status: QueryStatus
    name: str
    endpoint_version: int
    execution_id: str


class RunAnswer(OpenResponse):
    """The results of a run; of HogQL with ``columns``, ``types``, ``limit`` and ``offset``.

    ``next_cursor`` is there when the run was paged by cursor.
    """

    results: list[Any]
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


class RangePair(DocumentedResponse):
    """A column that range variables are compared with."""

    column: str
    variables: list[str]
    bucket_fn: str | None


class Aggregate(DocumentedResponse):
    """An aggregate and what puts its parts together again."""

    expression: str
    reaggregate_fn: str


class Preview(OpenResponse):
    """How a query would be kept."""

    can_materialize: bool
    reason: str | None
    transformed_query: str | None
    execution_query: str | None
    display_execution_query: str | None
    range_pairs: list[RangePair]
    aggregates: list[Aggregate]


class LogLine(DocumentedResponse):
    """One line of the log of runs."""

    log_source_id: str
    instance_id: str
    timestamp: str
    level: str
    message: str


_ALL = PROJECT_PREFIX + "/endpoints"
_ONE = _ALL + "/{name}"
_VERSION = text("version", "Number of the version, or one of its aliases.")
_CHANGE = RouteDoc({200: (ChangedRecord, Version, Deleted)}, body=UpdateBody, query=(_VERSION,))
_DOCUMENT = RouteDoc({200: {"type": "object"}}, query=(_VERSION,))
_ALIAS = RouteDoc({200: Alias, 201: Alias}, body=AliasBody)
_RUN_QUERY = (
    _VERSION,
    number("limit", minimum=1, maximum=50_000),
    number("offset", minimum=0),
    text("refresh"),
    flag("debug"),
    text("client_query_id", "Id of the run; the one of a background run asks for its state."),
    text("cursor", "* for the first page by cursor, then next_cursor of the page before."),
)
_LOG_QUERY = (
    number("limit", minimum=1, maximum=500),
    text("after"),
    text("before"),
    text("level"),
    text("search"),
    text("instance_id"),
    _VERSION,
)

ABOUT: dict[tuple[str, str], RouteDoc] = {
    ("GET", _ALL): RouteDoc(
        {200: Page[Record]}, query=(*PAGE, flag("is_active"), number("created_by"))
    ),
    ("POST", _ALL): RouteDoc({201: Record}, body=CreateBody),
    ("POST", _ALL + "/last_execution_times"): RouteDoc({200: LastExecutions}, body=NamesBody),
    ("GET", _ONE): RouteDoc({200: (Record, Version)}, query=(_VERSION,)),
    ("PATCH", _ONE): _CHANGE,
    ("PUT", _ONE): _CHANGE,
    ("DELETE", _ONE): RouteDoc({204: None}),
    ("GET", _ONE + "/materialization_status"): RouteDoc(
        {200: (NamedEligible, NamedMaterialized)}, query=(_VERSION,)
    ),
    ("GET", _ONE + "/openapi.json"): _DOCUMENT,
    ("GET", _ONE + "/run"): RouteDoc({200: RunAnswer, 202: Accepted}, query=_RUN_QUERY),
    ("POST", _ONE + "/run"): RouteDoc(
        {200: RunAnswer, 202: Accepted}, body=RunBody, query=(_VERSION,)
    ),
    ("DELETE", _ONE + "/run"): RouteDoc({204: None}, query=(text("client_query_id"),)),
    ("GET", _ONE + "/versions"): RouteDoc({200: Page[Version]}, query=PAGE),
    ("GET", _ONE + "/versions/{version_number}"): RouteDoc({200: Version}),
    ("POST", _ONE + "/materialization_preview"): RouteDoc({200: Preview}, body=PreviewBody),
    ("GET", _ALL + "/openapi.json"): RouteDoc({200: {"type": "object"}}),
    ("GET", _ONE + "/versions/{a}/diff/{b}"): RouteDoc({200: Difference}),
    ("GET", _ONE + "/aliases"): RouteDoc({200: Page[Alias]}),
    ("PUT", _ONE + "/aliases/{alias}"): _ALIAS,
    ("PATCH", _ONE + "/aliases/{alias}"): _ALIAS,
    ("DELETE", _ONE + "/aliases/{alias}"): RouteDoc({204: None}),
    ("GET", _ONE + "/usage"): RouteDoc(
        {200: UsageAnswer}, query=(number("days", minimum=1, maximum=366), _VERSION)
    ),
    ("GET", _ONE + "/logs"): RouteDoc({200: Page[LogLine]}, query=_LOG_QUERY),
}
