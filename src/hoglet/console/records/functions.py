"""Functions: their records, settings, test runs, matches and metrics."""

from typing import Any, NotRequired, TypedDict

from hoglet.console.records.project import RequestBody
from hoglet.kit.json import JsonObject

type MaskingSettings = JsonObject
"""``{"hash": "{event.distinct_id}", "ttl": 3600, "threshold": None}``, edited in place."""

type ExampleGlobals = JsonObject
"""Globals of a test run, as typed: ``{"event": {...}, "person": {...}}``."""

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


class WatcherStatus(TypedDict):
    """The state of a function; see docs/spec/hog-functions.md#2-the-function-object."""

    state: int
    tokens: int


class SaveWarning(TypedDict):
    """A warning of a save; ``attr`` is ``hog``, ``inputs__url``, ``filters__properties__0``."""

    message: str
    hint: str | None
    line: int
    column: int
    attr: str


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


class MatchedEventRecord(TypedDict):
    """An event that a function matches."""

    uuid: str
    event: str
    distinct_id: str
    timestamp: str
