"""Response models of endpoints (docs/spec/query-endpoints.md#2-records)."""

from typing import Any, Literal

from pydantic import Field

from hoglet.access.schemas import UserObject
from hoglet.endpoints.enums import Bucket, RecordType, SyncWord
from hoglet.web.openapi import DocumentedResponse, Json, OpenResponse, text


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
    """The materialization of a materialized version."""

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


class ChangedRecord(Record):
    """The response of a change; ``error`` is set if the new version could not be materialized."""

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
    """The endpoint was deleted."""

    success: Literal[True]


class QueryStatus(OpenResponse):
    """The state of a background run."""

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


class RangePair(DocumentedResponse):
    """A column that range variables are compared with."""

    column: str
    variables: list[str]
    bucket_fn: str | None


class Aggregate(DocumentedResponse):
    """An aggregate and the function that merges it."""

    expression: str
    reaggregate_fn: str


class BuildMode(OpenResponse):
    """How the table is built, and why."""

    mode: Literal["incremental", "full"]
    reason: str


class Preview(OpenResponse):
    """How a query would be materialized; ``build`` if its GROUP BY has a time bucket."""

    can_materialize: bool
    reason: str | None
    transformed_query: str | None
    execution_query: str | None
    display_execution_query: str | None
    range_pairs: list[RangePair]
    aggregates: list[Aggregate]
    build: BuildMode | None = None


VERSION_PARAMETER = text("version", "Version number or alias.")
