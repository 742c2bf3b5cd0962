"""What the routes of functions take and answer, for the OpenAPI document of the API.

Source: docs/spec/hog-functions.md#2-the-function-object, docs/spec/hog-functions.md#8-list-row-1,
docs/spec/hog-functions.md#9-rows-6-13,
docs/spec/hog-functions.md#10-dead-letters-hoglet-goes-further,
docs/spec/hog-functions.md#11-templates and docs/spec/hog-functions.md#13-run-time.
"""

from typing import Any, Literal

from pydantic import Field

from hoglet.access.described import ActivityObject, Page, UserObject
from hoglet.functions.dead_letters.filters import CLASSES
from hoglet.functions.integrations.schemas import IntegrationFields
from hoglet.functions.schemas import FunctionFields, FunctionType
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


class Status(DocumentedResponse):
    """The watcher's state: 0, 1, 2, 3, 11 or 12."""

    state: Literal[0, 1, 2, 3, 11, 12]
    tokens: int


class TemplateObject(DocumentedResponse):
    """A template, with its code."""

    id: str
    name: str
    description: str
    code: str
    code_language: str
    inputs_schema: list[Json]
    type: str
    status: str
    category: list[str]
    free: bool
    icon_url: str | None
    filters: Json | None
    masking: Json | None
    mapping_templates: list[Json] | None


class FunctionItem(DocumentedResponse):
    """A function in a list."""

    id: str
    type: FunctionType
    name: str | None
    description: str
    created_at: str
    created_by: UserObject | None
    updated_at: str
    enabled: bool
    hog: str
    filters: Json
    icon_url: str | None
    template: TemplateObject | None
    status: Status
    execution_order: int | None
    search_match_type: Literal["exact", "similar"] = Field(default="exact")


class FunctionObject(DocumentedResponse):
    """A function in full; ``retry`` only when it has a policy of its own."""

    id: str
    type: FunctionType
    name: str | None
    description: str
    created_at: str
    created_by: UserObject | None
    updated_at: str
    enabled: bool
    deleted: bool
    hog: str
    bytecode: list[Any] | None
    transpiled: str | None
    inputs_schema: list[Json]
    inputs: Json
    filters: Json
    masking: Json | None
    mappings: list[Json] | None
    icon_url: str | None
    template: TemplateObject | None
    template_id: str | None
    status: Status
    execution_order: int | None
    create_in_folder: str | None = Field(alias="_create_in_folder")
    batch_export_id: str | None
    retry: Json = Field(default_factory=dict[str, Any])


class FunctionFullItem(FunctionObject):
    """A function in a list with ``full=true``."""

    search_match_type: Literal["exact", "similar"] = Field(default="exact")


class LogLine(DocumentedResponse):
    """One line of a log."""

    log_source_id: str
    instance_id: str
    timestamp: str
    level: str
    message: str


class MetricSeries(DocumentedResponse):
    """One value a label."""

    name: str
    values: list[int]


class Metrics(DocumentedResponse):
    """Counts by interval."""

    labels: list[str]
    series: list[MetricSeries]


class Totals(DocumentedResponse):
    """Counts by kind or name."""

    totals: dict[str, int]


class TestRunLogLine(DocumentedResponse):
    """One line of a test run."""

    level: str
    timestamp: str
    message: str


class TestRunObject(OpenResponse):
    """What a test run came to."""

    result: Any
    status: Literal["success", "error", "skipped"]
    errors: list[str]
    logs: list[TestRunLogLine]


class DeadLetterObject(DocumentedResponse):
    """An invocation that ended in failure."""

    id: str
    letter_class: str = Field(alias="class", json_schema_extra={"enum": list(CLASSES)})
    invocation_id: str
    event_uuid: str | None
    event: str | None
    distinct_id: str | None
    attempts: int
    error: str
    first_failed_at: str
    last_failed_at: str
    redriven_at: str | None


class DeadLetterDetail(DeadLetterObject):
    """A letter with what the invocation saw."""

    globals: Json


class Redriven(DocumentedResponse):
    """How many letters run again."""

    queued: int
    skipped: int


class BackfillsEnabled(DocumentedResponse):
    """The paused job that backfills are started for."""

    batch_export_id: str


class BackfillObject(OpenResponse):
    """A run over stored events."""

    id: str
    start_at: str | None
    end_at: str | None
    status: str


class ActionObject(OpenResponse):
    """A named set of events."""

    id: int
    name: str | None
    steps: list[Json]
    deleted: bool


class IntegrationObject(DocumentedResponse):
    """A stored credential, without its token."""

    id: int
    kind: str
    display_name: str
    icon_url: str | None
    config: Json
    hosts: list[str] | None
    created_at: str
    updated_at: str
    created_by: UserObject | None
    errors: str


def _object(*required: str, **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(required)}


_TEXT: Json = {"type": "string"}
_OBJECT: Json = {"type": "object"}
_TIME: Json = {"type": "string", "format": "date-time"}
_TRIAL_BODY = _object(
    configuration={"type": "object", "additionalProperties": True},
    globals=_OBJECT,
    clickhouse_event=_OBJECT,
    mock_async_functions={"type": "boolean", "default": True},
    invocation_id={"type": ["string", "null"], "format": "uuid"},
)
_ACTION_BODY = _object(
    name=_TEXT,
    description=_TEXT,
    steps={"type": "array", "items": _object(event={"type": ["string", "null"]})},
    deleted={"type": "boolean"},
)
_REDRIVE_BODY = _object(
    ids={"type": "array", "items": _TEXT},
    **{"class": {"type": "array", "items": {"type": "string", "enum": list(CLASSES)}}},
    after=_TIME,
    before=_TIME,
    all={"type": "boolean"},
)
_ORDERS = _object("orders", orders={"type": "object", "additionalProperties": {"type": "integer"}})
_LOG_QUERY = (
    number("limit", minimum=1, maximum=500),
    text("after", "ISO 8601, exclusive."),
    text("before", "ISO 8601, exclusive."),
    text("level", "Comma list of DEBUG, LOG, INFO, WARN, ERROR."),
    text("search"),
    text("instance_id", "Id of an invocation."),
)
_TOTALS_QUERY = (
    text("after", "e.g. -7d, or ISO 8601."),
    text("before"),
    text("name", "Comma list."),
    text("kind", "Comma list."),
    text("breakdown_by", enum=["name", "kind"]),
)
_METRIC_QUERY = (*_TOTALS_QUERY, text("interval", enum=["hour", "day", "week"]))
_LIST_QUERY = (
    *PAGE,
    text("type", "Comma list, or repeated."),
    flag("enabled"),
    text("id", format="uuid"),
    number("created_by"),
    text("created_at", format="date-time"),
    text("updated_at", format="date-time"),
    text("search", maxLength=200),
    text("filters", "JSON object that the function's filters contain."),
    text("filter_groups", "JSON array of such objects."),
    flag("full", "Full objects instead of list items."),
)
_LETTER_QUERY = (*PAGE, text("class"), text("after"), text("before"), flag("redriven"))
_TEMPLATE_QUERY = (*PAGE, text("type"), text("types"), text("template_id"))

_ALL = PROJECT_PREFIX + "/hog_functions"
_ONE = _ALL + "/{function_id}"
_LETTERS = _ONE + "/dead_letters"
_BACKFILLS = PROJECT_PREFIX + "/batch_exports/{batch_export_id}/backfills"
_TEMPLATES = PROJECT_PREFIX + "/hog_function_templates"
_PUBLIC_TEMPLATES = "/api/public_hog_function_templates"
_ACTIONS = PROJECT_PREFIX + "/actions"
_INTEGRATIONS = PROJECT_PREFIX + "/integrations"
_CHANGE = RouteDoc({200: FunctionObject}, body=FunctionFields, problems=(409,))
_REARRANGE = RouteDoc({200: {"type": "array", "items": {"type": "object"}}}, body=_ORDERS)
_ACTION_CHANGE = RouteDoc({200: ActionObject}, body=_ACTION_BODY)
_INTEGRATION_CHANGE = RouteDoc({200: IntegrationObject}, body=IntegrationFields)
_WEBHOOK = RouteDoc({200: "*/*", 201: "*/*", 500: "*/*"}, problems=(405, 413, 429))

ABOUT: dict[tuple[str, str], RouteDoc] = {
    ("GET", _ALL): RouteDoc({200: Page[FunctionItem | FunctionFullItem]}, query=_LIST_QUERY),
    ("POST", _ALL): RouteDoc({201: FunctionObject}, body=FunctionFields),
    ("GET", _ONE): RouteDoc({200: FunctionObject}),
    ("PATCH", _ONE): _CHANGE,
    ("PUT", _ONE): _CHANGE,
    ("DELETE", _ONE): RouteDoc({405: None}),
    ("PATCH", _ALL + "/rearrange"): _REARRANGE,
    ("PUT", _ALL + "/rearrange"): _REARRANGE,
    ("GET", _ALL + "/rearrange"): RouteDoc({}, problems=(405,)),
    ("PATCH", _ALL + "/icon"): RouteDoc({}, problems=(405,)),
    ("PUT", _ALL + "/icon"): RouteDoc({}, problems=(405,)),
    ("PATCH", _ALL + "/icons"): RouteDoc({}, problems=(405,)),
    ("PUT", _ALL + "/icons"): RouteDoc({}, problems=(405,)),
    ("GET", _ALL + "/icons"): RouteDoc(
        {200: {"type": "array", "items": {"type": "object"}}}, query=(text("query"),)
    ),
    ("GET", _ALL + "/icon"): RouteDoc({200: "image/*"}, query=(text("id"),), problems=(404,)),
    ("GET", _ONE + "/logs"): RouteDoc({200: Page[LogLine]}, query=_LOG_QUERY),
    ("GET", _ONE + "/logs/stream"): RouteDoc({200: "text/event-stream"}, query=_LOG_QUERY),
    ("GET", _ONE + "/metrics"): RouteDoc(
        {200: Metrics}, query=(*_METRIC_QUERY, text("instance_id"))
    ),
    ("GET", _ONE + "/metrics/totals"): RouteDoc({200: Totals}, query=_TOTALS_QUERY),
    ("POST", _ONE + "/enable_backfills"): RouteDoc({200: BackfillsEnabled}),
    ("POST", _ONE + "/invocations"): RouteDoc({200: TestRunObject}, body=_TRIAL_BODY),
    ("GET", _ONE + "/activity"): RouteDoc({200: Page[ActivityObject]}, query=PAGE),
    ("POST", _ONE + "/restore"): RouteDoc(
        {200: FunctionObject}, body=_object(activity_id=_TEXT, to=_TIME)
    ),
    ("GET", _LETTERS): RouteDoc({200: Page[DeadLetterObject]}, query=_LETTER_QUERY),
    ("POST", _LETTERS + "/redrive"): RouteDoc({200: Redriven}, body=_REDRIVE_BODY),
    ("GET", _LETTERS + "/{letter_id}"): RouteDoc({200: DeadLetterDetail}),
    ("DELETE", _LETTERS + "/{letter_id}"): RouteDoc({204: None}),
    ("POST", _BACKFILLS): RouteDoc(
        {201: BackfillObject},
        body=_object(start_at=_TIME, end_at=_TIME, with_filters={"type": "boolean"}),
    ),
    ("GET", _BACKFILLS): RouteDoc({200: Page[BackfillObject]}, query=PAGE),
    ("GET", _BACKFILLS + "/{backfill_id}"): RouteDoc({200: BackfillObject}),
    ("POST", _BACKFILLS + "/{backfill_id}/{verb}"): RouteDoc({200: BackfillObject}),
    ("GET", _TEMPLATES): RouteDoc({200: Page[TemplateObject]}, query=_TEMPLATE_QUERY),
    ("GET", _TEMPLATES + "/{template_id}"): RouteDoc({200: TemplateObject}),
    ("GET", _PUBLIC_TEMPLATES): RouteDoc({200: Page[TemplateObject]}, query=_TEMPLATE_QUERY),
    ("GET", _PUBLIC_TEMPLATES + "/{template_id}"): RouteDoc({200: TemplateObject}),
    ("GET", "/static/services/{name}.svg"): RouteDoc({200: "image/svg+xml"}),
    ("GET", _ACTIONS): RouteDoc({200: Page[ActionObject]}, query=PAGE),
    ("POST", _ACTIONS): RouteDoc({201: ActionObject}, body=_ACTION_BODY),
    ("GET", _ACTIONS + "/{action_id}"): RouteDoc({200: ActionObject}),
    ("PATCH", _ACTIONS + "/{action_id}"): _ACTION_CHANGE,
    ("PUT", _ACTIONS + "/{action_id}"): _ACTION_CHANGE,
    ("GET", _INTEGRATIONS): RouteDoc({200: Page[IntegrationObject]}, query=(*PAGE, text("kind"))),
    ("POST", _INTEGRATIONS): RouteDoc({201: IntegrationObject}, body=IntegrationFields),
    ("GET", _INTEGRATIONS + "/{integration_id}"): RouteDoc({200: IntegrationObject}),
    ("PATCH", _INTEGRATIONS + "/{integration_id}"): _INTEGRATION_CHANGE,
    ("PUT", _INTEGRATIONS + "/{integration_id}"): _INTEGRATION_CHANGE,
    ("DELETE", _INTEGRATIONS + "/{integration_id}"): RouteDoc({204: None}),
    ("GET", "/public/webhooks/{name}"): _WEBHOOK,
    ("POST", "/public/webhooks/{name}"): _WEBHOOK,
    ("GET", "/site_function/{function_id}/{stamp}"): RouteDoc({200: "application/javascript"}),
}
