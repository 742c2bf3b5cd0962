"""The shapes of the API's records and responses that pages show.

Only keys that pages read are named; records have more, which forms preserve.
"""

from typing import Any, NotRequired, TypedDict

from hoglet.kit.json import JsonObject, Properties

type StoredQuery = JsonObject
"""A query as an endpoint has it, of any kind: ``{"kind": "HogQLQuery", "query": "SELECT 1"}``."""

type RequestBody = JsonObject
"""What a form sends: the fields of a record that it edits, e.g. ``{"name": "x"}``."""

type PropertyCondition = JsonObject
"""A filter on a property, edited in place: ``{"key": "plan", "value": ["pro"]}``."""

type ActionStep = JsonObject
"""A step of an action, edited in place: ``{"event": "$pageview", "url": "/docs"}``."""

type Criterion = JsonObject
"""A criterion of a cohort or a group of them, edited in place."""

type MaskingSettings = JsonObject
"""``{"hash": "{event.distinct_id}", "ttl": 3600, "threshold": None}``, edited in place."""

type ExampleGlobals = JsonObject
"""Globals of a test run, as typed: ``{"event": {...}, "person": {...}}``."""

type ListedRecord = Any
"""A record of the kind that a page lists, e.g. a ``CohortRecord``."""

type InsightSeries = JsonObject
"""A series of trends, lifecycle or stickiness: ``{"label": "paid", "data": [1, 2]}``."""

type FilterEntry = JsonObject
"""An event or action of filters, edited in place: ``{"id": "paid", "type": "events"}``."""

type EditedFilters = JsonObject
"""Filters of a function, edited in place: ``{"events": [...], "properties": [...]}``."""

type SchemaItem = JsonObject
"""An item of ``inputs_schema``, edited in place: ``{"key": "url", "type": "string"}``."""

type FunctionInputs = JsonObject
"""Inputs by key: ``{"url": {"value": "https://example.com"}}``."""

type FunctionMapping = JsonObject
"""A mapping of a function, with its filters and inputs, edited in place."""

type VariableValues = JsonObject
"""Values of variables by code name: ``{"plan": "pro"}``."""

type JsonSchema = JsonObject
"""A JSON schema: ``{"type": "string", "example": "pro"}``."""

type ChartOptions = JsonObject
"""Options of ECharts: ``{"xAxis": {...}, "series": [...]}``."""


class ProjectRecord(TypedDict):
    """A project."""

    id: int
    name: str
    api_token: str
    timezone: str
    test_account_filters: list[PropertyCondition]


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


class WatcherStatus(TypedDict):
    """The state of a function; see docs/spec/hog-functions.md#2-the-function-object."""

    state: int
    tokens: int


class FunctionRecord(TypedDict):
    """A function; lists lack the inputs, mappings and drafts."""

    id: str
    type: str
    name: str | None
    description: str
    enabled: bool
    hog: str
    filters: EditedFilters
    status: WatcherStatus
    updated_at: str
    inputs_schema: list[SchemaItem]
    inputs: FunctionInputs
    masking: JsonObject | None
    mappings: list[FunctionMapping] | None
    draft: NotRequired[RequestBody | None]
    draft_updated_at: NotRequired[str | None]


class TemplateRecord(TypedDict):
    """A template of functions."""

    id: str
    type: str
    name: str
    description: str
    code: str
    status: str
    icon_url: str | None
    inputs_schema: list[SchemaItem]
    filters: EditedFilters | None
    mapping_templates: list[FunctionMapping] | None


class Reason(TypedDict):
    """Why an event does not run a function."""

    reason: str


class MatchExplanationRecord(TypedDict):
    """Whether an event would run a function, and what prevents it."""

    would_run: bool
    failed: list[Reason]
    notes: list[str]


class MatchCountRecord(TypedDict):
    """How many recent events match a function."""

    matched: int
    examined: int
    complete: bool


class TracedStep(TypedDict):
    """A statement of a test run."""

    line: int
    values: dict[str, str]
    calls: list[str]


class FunctionLogEntry(TypedDict):
    """A line of a function's log."""

    timestamp: str
    instance_id: str
    level: str
    message: str


class TestRunRecord(TypedDict):
    """The result of a test run."""

    status: str
    errors: list[str]
    logs: list[FunctionLogEntry]
    result: Any
    trace: list[TracedStep] | None


DeadLetterRecord = TypedDict(
    "DeadLetterRecord",
    {
        "id": str,
        "class": str,
        "error": str,
        "event": str,
        "distinct_id": str,
        "attempts": int,
        "last_failed_at": str,
    },
)
"""A run that failed permanently."""


class ChartSeries(TypedDict):
    """A line of a chart: ``{"name": "succeeded", "values": [1, 2]}``."""

    name: str
    values: list[int]


class ChartMetrics(TypedDict):
    """Counts by time: ``{"labels": ["2026-01-05"], "series": [...]}``."""

    labels: list[str]
    series: list[ChartSeries]


class UserRecord(TypedDict, total=False):
    """Who did something."""

    first_name: str
    email: str


class FieldChangeRecord(TypedDict):
    """A field that a change of a record set."""

    field: str
    before: Any
    after: Any


class ChangeDetail(TypedDict, total=False):
    """What a change was about."""

    name: str | None
    changes: list[FieldChangeRecord]


class ActivityRecord(TypedDict):
    """An entry of the activity log."""

    id: str
    activity: str
    scope: str
    item_id: str
    created_at: str
    detail: ChangeDetail
    user: UserRecord | None


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


class PersonDetails(TypedDict):
    """A person; that of an event has no times."""

    uuid: str
    name: str
    distinct_ids: list[str]
    properties: Properties
    created_at: str
    last_seen_at: str | None


class ElementRecord(TypedDict):
    """A clicked element, or one of its ancestors."""

    order: int
    tag_name: str
    text: str | None
    attributes: dict[str, str]


class EventRecord(TypedDict):
    """A stored event."""

    id: str
    event: str
    distinct_id: str
    timestamp: str
    properties: Properties
    person: PersonDetails | None
    elements: list[ElementRecord]
    elements_chain: str


class MatchedEventRecord(TypedDict):
    """An event that a function matches."""

    uuid: str
    event: str
    distinct_id: str
    timestamp: str


class ActionRecord(TypedDict):
    """An action."""

    id: int
    name: str
    description: str
    steps: list[ActionStep]
    updated_at: str


class CohortRecord(TypedDict):
    """A cohort."""

    id: int
    name: str
    description: str
    is_static: bool
    filters: JsonObject
    query: NotRequired[StoredQuery | None]
    cohort_type: str
    count: int | None
    is_calculating: bool
    errors_calculating: int
    last_calculation: str | None


class IntegrationRecord(TypedDict):
    """A credential of a service."""

    id: int
    kind: str
    display_name: str
    hosts: list[str] | None
    errors: str
    updated_at: str


class PropertyRecord(TypedDict):
    """A property of events or persons."""

    id: str
    name: str
    description: str
    property_type: str | None
    unconverted_share: NotRequired[float]


class ApiKeyRecord(TypedDict):
    """A personal API key."""

    id: str
    label: str
    mask_value: str
    scopes: list[str]
    created_at: str
    last_used_at: str | None


class SigningKeyRecord(TypedDict):
    """A key that tenant tokens are signed with."""

    id: str
    created_at: str
    expires_at: str | None
