"""Endpoints, variables, and results of queries and insights."""

from typing import Any, NotRequired, TypedDict

from hoglet.console.records.project import StoredQuery
from hoglet.kit.json import JsonObject

type InsightSeries = JsonObject
"""A series of trends, lifecycle or stickiness: ``{"label": "paid", "data": [1, 2]}``."""

type VariableValues = JsonObject
"""Values of variables by code name: ``{"plan": "pro"}``."""

type JsonSchema = JsonObject
"""A JSON schema: ``{"type": "string", "example": "pro"}``."""

type ChartOptions = JsonObject
"""Options of ECharts: ``{"xAxis": {...}, "series": [...]}``."""


class FunnelStep(TypedDict):
    """A step of a funnel, with the conversion times from the previous step."""

    order: int
    count: int
    name: str | None
    custom_name: str | None
    average_conversion_time: float | None
    breakdown_value: NotRequired[Any]
    compare_label: NotRequired[str]


class FunnelHistogram(TypedDict):
    """How many users converted, by conversion time: ``{"bins": [[0, 3], [60, 1]]}``, in seconds."""

    bins: list[tuple[float, int]]
    compare_label: NotRequired[str]


class PathEdge(TypedDict):
    """An edge of a path: how often one step followed another."""

    source: str
    target: str
    value: int


class RetentionValue(TypedDict):
    """Who returned: ``{"count": 3, "label": "Day 1"}``."""

    count: int
    label: str


class RetentionCohort(TypedDict):
    """A row of retention: those who began in a period."""

    date: str
    values: list[RetentionValue]
    breakdown_value: NotRequired[Any]


class MaterializationRecord(TypedDict):
    """The materialization of an endpoint; the last four keys are set only if it is enabled."""

    can_materialize: bool
    enabled: bool
    ready: bool
    reason: NotRequired[str | None]
    status: str
    error: str
    last_materialized_at: str | None
    sync_frequency: str


class EndpointRecord(TypedDict):
    """An endpoint with its current version."""

    name: str
    description: str
    query: StoredQuery
    is_active: bool
    is_materialized: bool
    url: str
    tags: list[str]
    current_version: int
    last_executed_at: str | None
    materialization: MaterializationRecord


class EndpointVersionRecord(EndpointRecord):
    """An endpoint with the values of one version."""

    version: int
    version_created_at: str


class AliasRecord(TypedDict):
    """A movable name of a version."""

    alias: str
    version: int


class BuildRecord(TypedDict):
    """A build of an endpoint's table."""

    id: str
    version: int
    status: str
    started_at: str
    ended_at: str | None
    error: str
    is_unchanged: bool


class UsageDay(TypedDict):
    """The runs of an endpoint on a day."""

    day: str
    count: int
    errors: int


class EndpointUsageRecord(TypedDict):
    """The runs of an endpoint."""

    count: int
    errors: int
    cache_hit_share: float | None
    p50_ms: float | None
    p95_ms: float | None
    days: list[UsageDay]


class ResultRecord(TypedDict):
    """The body of a run; insights have neither rows in ``results`` nor columns or pages."""

    name: str
    endpoint_version: int
    execution_id: str
    columns: list[str] | None
    types: list[Any]
    results: list[Any]
    hasMore: bool
    limit: int
    is_cached: bool
    last_refresh: str
    timezone: str
    endpoint_materialized: bool
    endpoint_materialized_at: str


class VariableRecord(TypedDict):
    """A variable of queries."""

    id: str
    name: str
    type: str
    code_name: str
    default_value: Any
    values: list[Any] | None
    is_multi: bool
    created_at: str
