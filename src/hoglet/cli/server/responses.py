"""The API responses that commands print, with the keys that they use."""

from typing import Any, Literal, NotRequired, TypedDict

from hoglet.kit.json import JsonObject, Properties


class QueryResponse(TypedDict):
    """Rows of a query or an endpoint; insights have no ``columns``."""

    columns: list[str]
    results: list[list[Any]]
    hasMore: NotRequired[bool]


class PrintedEvent(TypedDict):
    """A stored event; the warehouse may return ``properties`` as text."""

    uuid: str
    timestamp: str
    event: str
    distinct_id: str
    properties: Properties | str


class FunctionLogLine(TypedDict):
    """A line of a function's log."""

    timestamp: str
    instance_id: str
    level: Literal["DEBUG", "LOG", "INFO", "WARN", "ERROR"]
    message: str


class ConditionResponse(TypedDict):
    """A condition, or with ``operator`` a group of them."""

    path: str
    matched: bool
    condition: str | None
    reason: str | None
    operator: Literal["any", "all"] | None
    parts: list["ConditionResponse"]


class ExplainedMapping(TypedDict):
    """A mapping with its conditions."""

    index: int
    name: str | None
    matched: bool
    conditions: list[ConditionResponse]


class ExplainedFailure(TypedDict):
    """A reason for which an event does not run a function."""

    kind: str
    path: str
    reason: str


class MatchResponse(TypedDict):
    """Why an event does or does not run a function."""

    event: PrintedEvent
    matched: bool
    would_run: bool
    conditions: list[ConditionResponse]
    mappings: list[ExplainedMapping] | None
    failed: list[ExplainedFailure]
    notes: list[str]


class TestRunResponse(TypedDict):
    """The result of a test run of a function."""

    status: str
    logs: list[FunctionLogLine]
    errors: list[str]
    result: Any


class BackfillProgress(TypedDict):
    """The progress of a backfill."""

    id: str
    status: str
    events_total: int | None
    runs_succeeded: int
    runs_failed: int


class UsageLine(TypedDict):
    """The runs of an endpoint on a day (``2026-01-05``), or in total."""

    day: str
    count: int
    errors: int
    p50_ms: float | None
    p95_ms: float | None
    cache_hit_share: float | None


class TokenRequest(TypedDict):
    """A tenant token to create."""

    endpoints: list[str]
    variables: JsonObject
    expires_in: int


class ReadinessResponse(TypedDict):
    """The response of ``/_readyz``: ``{"checks": {"database": "ok"}, "warnings": []}``."""

    checks: dict[str, str]
    warnings: list[str]
