"""A server with the shapes of PostHog's API, as a source for moving a project.

Pages of two items, absolute ``next`` links, ``@current``, 401 without the key, some lists below
``/api/environments/`` only, one response of 429 with ``Retry-After``, and everything that PostHog
adds to objects: users, templates, bytecode, hashes, keys of newer versions.
"""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

from support.local_http import Handler, LocalHttp

type Json = dict[str, Any]

KEY = "phx_posthog"
PROJECT = 4711
_ADA = {"id": 9, "uuid": "0198c2a0-0000-7000-8000-0000000000ad", "distinct_id": "x",
        "first_name": "Ada", "last_name": "", "email": "ada@example.com"}  # fmt: skip
_TIMES = {"created_at": "2025-03-01T10:00:00.000000Z", "created_by": _ADA}


def uuid(number: int) -> str:
    """The id of an object."""
    return f"0198c2a0-0000-7000-8000-{number:012}"


def function(number: int, kind: str, name: str, **fields: Any) -> Json:
    """A function with the keys of PostHog."""
    return {
        "id": uuid(number), "type": kind, "name": name, "description": "", **_TIMES,
        "created_at": f"2025-03-01T10:00:{number:02}.000000Z",
        "updated_at": "2025-04-01T10:00:00.000000Z", "enabled": True, "deleted": False,
        "hog": "print(event.event)", "bytecode": ["_H", 1, 29], "transpiled": None,
        "inputs_schema": [], "inputs": {},
        "filters": {"source": "events", "bytecode": ["_H", 1, 29]},
        "masking": None, "mappings": None, "icon_url": "/static/services/webhook.png",
        "template": None, "template_id": None, "status": {"state": 1, "tokens": 10000},
        "execution_order": None, "_create_in_folder": None, "batch_export_id": None, **fields,
    }  # fmt: skip


HOOK_SCHEMA = [
    {"key": "url", "type": "string", "label": "URL", "secret": False, "hidden": False,
     "required": True, "templating": True, "description": "Where to."},
    {"key": "token", "type": "string", "label": "Token", "secret": True, "required": True},
    {"key": "headers", "type": "dictionary", "label": "Headers", "secret": True},
]  # fmt: skip
HOOK = function(
    1,
    "destination",
    "Tell billing",
    hog="let r := fetch(inputs.url, {'headers': {'X-Token': inputs.token}})\nprint(r.status)",
    inputs_schema=HOOK_SCHEMA,
    inputs={
        "url": {"value": "https://billing.example.com/{event.event}", "order": 0,
                "bytecode": ["_H", 1, 32, "x"], "templating": "hog"},
        "token": {"secret": True},
        "headers": {"secret": True},
    },
    filters={
        "source": "events", "filter_test_accounts": False, "bytecode": ["_H", 1, 29], "actions": [
            {"id": "31", "name": "Read docs", "type": "actions", "order": 0}],
        "events": [{"id": "paid", "name": "paid", "type": "events", "order": 1, "properties": [
            {"key": "plan", "type": "event", "value": ["pro"], "operator": "exact"}]}],
    },
    masking={"ttl": 60, "hash": "{person.id}", "bytecode": ["_H", 1], "threshold": None},
    template_id="template-webhook",
    template={"id": "template-webhook", "name": "HTTP Webhook", "code_language": "hog"},
)  # fmt: skip
FUNCTIONS = [
    HOOK,
    function(2, "transformation", "Drop bots", hog="return event", execution_order=1),
    function(3, "transformation", "GeoIP", hog="return event", execution_order=2,
             template_id="plugin-posthog-plugin-geoip",
             template={"id": "plugin-posthog-plugin-geoip", "code_language": "javascript"}),
    function(4, "destination", "Ads", template_id="template-google-ads",
             template={"id": "template-google-ads", "code_language": "hog"}),
    function(5, "destination", "Native", hog="return event", template_id="native-webhook",
             template={"id": "native-webhook", "code_language": "javascript"}),
    function(6, "warehouse_source_webhook", "Stripe rows"),
    function(7, "destination", "Rows", filters={"source": "data-warehouse-table",
             "data_warehouse": [{"table_name": "stripe.charges"}], "bytecode": []}),
    function(8, "destination", "Slack", inputs_schema=[
        {"key": "slack_workspace", "type": "integration", "integration": "slack", "required": True},
        {"key": "text", "type": "string"}],
        inputs={"slack_workspace": {"value": 77, "order": 0}, "text": {"value": "Hi"}}),
    function(9, "destination", "Broken", hog="let x :="),
    function(10, "destination", "Newer", filters={"source": "events", "sampling": {"rate": 1}}),
    function(11, "destination", "Helper", hog="return postHogOfTomorrow(1)"),
    function(12, "destination", "Insiders only", filters={"source": "events", "properties": [
        {"key": "id", "type": "cohort", "value": 52, "operator": "in"}]}),
    function(13, "destination", "Of an old action", filters={"source": "events", "actions": [
        {"id": "999", "name": "gone", "type": "actions"}]}),
    function(14, "site_app", "Banner", hog="export function onLoad() {}", filters=None,
             template_id="template-blank-site-app", transpiled="(function(){})",
             template={"id": "template-blank-site-app", "code_language": "javascript"}),
    function(15, "source_webhook", "Incoming", hog="return {'httpResponse': {'status': 201}}"),
    function(16, "destination", "Tell billing", hog="print('the second')"),
    function(17, "destination", "Trashed", deleted=True),
]  # fmt: skip
ACTIONS = [
    {"id": 31, "name": "Read docs", "description": "", "post_to_slack": False, **_TIMES,
     "slack_message_format": "", "deleted": False, "is_calculating": False, "tags": ["x"],
     "last_calculated_at": "2025-01-01T00:00:00Z", "team_id": PROJECT, "is_action": True,
     "bytecode_error": None, "pinned_at": None, "creation_context": None, "verified": False,
     "steps": [{"event": "$pageview", "properties": None, "selector": None, "tag_name": None,
                "selector_regex": None, "text": None, "text_matching": None, "href": None,
                "href_matching": None, "url": "/docs", "url_matching": "contains"}]},
    {"id": 32, "name": "Deleted", "deleted": True, "steps": [], "description": ""},
    {"id": 33, "name": None, "deleted": False, "steps": [], "description": ""},
]  # fmt: skip


def cohort(number: int, name: str, criteria: list[Json], **fields: Any) -> Json:
    """A cohort with the keys of PostHog."""
    filters = {"properties": {"type": "OR", "values": [{"type": "AND", "values": criteria}]}}
    return {
        "id": number, "name": name, "description": "", "groups": [], "deleted": False,
        "filters": filters, "query": None, "version": 3, "pending_version": 3, **_TIMES,
        "is_calculating": False, "last_calculation": None, "errors_calculating": 0, "count": 12,
        "is_static": False, "cohort_type": None, "experiment_set": [], **fields,
    }  # fmt: skip


EMAIL = {"key": "email", "type": "person", "value": "@example.com", "operator": "icontains",
         "negation": False, "bytecode": ["_H", 1], "conditionHash": "30b9"}  # fmt: skip
DID = {"key": "paid", "type": "behavioral", "value": "performed_event", "event_type": "events",
       "negation": False, "time_value": "30", "time_interval": "day", "bytecode": ["_H"],
       "conditionHash": "ab12", "explicit_datetime": None}  # fmt: skip
COHORTS = [
    cohort(51, "Insiders", [EMAIL]),
    cohort(52, "Imported", [], is_static=True, filters=None),
    cohort(53, "Payers", [DID, {"key": "id", "type": "cohort", "value": 51, "negation": False}]),
    cohort(54, "Insiders", [{**EMAIL, "value": "@other.com"}]),
    cohort(55, "Old form", [], filters={}, groups=[{"properties": [EMAIL]}]),
    cohort(56, "Odd", [{"key": "x", "type": "moon_phase", "value": "full"}]),
    cohort(57, "Of imported", [{"key": "id", "type": "cohort", "value": 52, "negation": False}]),
]
PLAN, UNUSED = uuid(101), uuid(102)
VARIABLES = [
    {"id": PLAN, "name": "Plan", "type": "String", "default_value": "pro", "code_name": "plan",
     "values": None, **_TIMES, "created_by": 9},
    {"id": UNUSED, "name": "Sort order", "type": "List", "default_value": "up",
     "code_name": "sort_order", "values": ["up", "down"], **_TIMES, "created_by": 9},
    {"id": uuid(103), "name": "Renamed", "type": "Number", "default_value": 1,
     "code_name": "before", "values": None, **_TIMES, "created_by": 9},
]  # fmt: skip


def endpoint(number: int, name: str, query: Json, **fields: Any) -> Json:
    """An endpoint with the keys of PostHog."""
    return {
        "id": uuid(200 + number), "name": name, "description": "", "query": query, **_TIMES,
        "is_active": True, "cache_age_seconds": None, "data_freshness_seconds": 86400,
        "endpoint_path": f"/api/projects/{PROJECT}/endpoints/{name}/run", "url": "", "ui_url": "",
        "updated_at": "2025-04-01T10:00:00Z", "is_materialized": False, "current_version": 2,
        "current_version_id": uuid(300 + number), "versions_count": 2, "tags": [], "columns": [],
        "derived_from_insight": None, "materialization": {"can_materialize": True},
        "last_executed_at": None, "bucket_overrides": None, **fields,
    }  # fmt: skip


def sql(text: str, **more: Any) -> Json:
    """A HogQL query with the keys that PostHog fills."""
    return {"kind": "HogQLQuery", "query": text, "explain": None, "filters": None, "name": None,
            "modifiers": None, "response": None, "tags": None, "values": None, "version": None,
            "variables": None, "sendRawQuery": None, **more}  # fmt: skip


ENDPOINTS = [
    endpoint(1, "by_plan", sql(
        "select event, count() as n from events where properties.plan = {variables.plan} "
        "group by event order by event",
        variables={PLAN: {"variableId": PLAN, "code_name": "plan", "value": "pro"}},
        tags={"productKey": "endpoints"}), description="Events by plan", tags=["billing"]),
    endpoint(2, "charges", sql("select sum(amount) from stripe_charges")),
    endpoint(3, "readers", {"kind": "TrendsQuery", "version": 2, "interval": "day", "series": [
        {"kind": "ActionsNode", "id": 31, "name": "Read docs", "math": "total", "uuid": "s1"}],
        "properties": {"type": "AND", "values": [{"type": "AND", "values": [
            {"key": "id", "type": "cohort", "value": 51, "operator": "in"}]}]}}),
    endpoint(4, "replays", {"kind": "RecordingsQuery"}),
]  # fmt: skip
SETTINGS = {
    "id": PROJECT, "name": "Shop", "timezone": "Europe/Berlin", "week_start_day": None,
    "organization": uuid(1), "api_token": "phc_x", "product_intents": [], "group_types": [],
    "person_display_name_properties": ["email"], "session_recording_opt_in": True,
    "test_account_filters": [{"key": "email", "type": "person", "value": "@example.com",
                              "operator": "not_icontains"}],
}  # fmt: skip
_LISTS = {
    "actions": ACTIONS,
    "cohorts": COHORTS,
    "insight_variables": VARIABLES,
    "endpoints": ENDPOINTS,
    "hog_functions": FUNCTIONS,
}
_BELOW_ENVIRONMENTS = frozenset({"endpoints"})
_PAGE = 2


class PostHog(LocalHttp):
    """The server; ``requests`` lists the requested paths."""

    def __init__(self, lists: dict[str, list[Json]] | None = None) -> None:
        self.requests: list[str] = []
        seen, objects, waited = self.requests, lists or _LISTS, set[str]()

        class Answering(Handler):
            def handle_any(self) -> None:
                seen.append(self.path)
                if not self.path.startswith("/api/"):
                    self.answer(200, b"<!doctype html>", {"Content-Type": "text/html"})
                elif self.headers.get("Authorization") != f"Bearer {KEY}":
                    self.reply(401, problem("authentication_failed", "Invalid personal API key."))
                elif self.path.startswith("/api/projects/@current/cohorts") and not waited:
                    waited.add(self.path)
                    self.reply(429, problem("throttled", "Slow down."), {"Retry-After": "1"})
                else:
                    self.reply(*_answer(urlsplit(self.path), objects, self.headers["Host"]))

            def reply(self, status: int, body: Any, more: dict[str, str] | None = None) -> None:
                headers = {"Content-Type": "application/json", **(more or {})}
                self.answer(status, json.dumps(body).encode(), headers)

        super().__init__(Answering)


def problem(code: str, detail: str) -> Json:
    """An error of PostHog."""
    return {"type": "invalid_request", "code": code, "detail": detail, "attr": None}


def _answer(url: Any, lists: dict[str, list[Json]], host: str) -> tuple[int, Any]:
    _, scope, project, *rest = url.path.strip("/").split("/")
    if project not in {"@current", str(PROJECT)}:
        return 404, problem("not_found", "Not found.")
    if not rest:
        return 200, SETTINGS
    items = lists.get(rest[0])
    if items is None or (rest[0] in _BELOW_ENVIRONMENTS and scope == "projects"):
        return 404, problem("not_found", "Not found.")
    if len(rest) > 1:
        record = next((each for each in items if each["id"] == rest[1]), None)
        return (200, record) if record else (404, problem("not_found", "Not found."))
    return 200, _page(url, rest[0], items, host)


def _page(url: Any, name: str, items: list[Json], host: str) -> Json:
    query = {key: values[-1] for key, values in parse_qs(url.query).items()}
    if name == "hog_functions":
        types = query.get("types", "destination").split(",")
        hidden = ("inputs", "inputs_schema", "masking", "mappings", "bytecode", "transpiled")
        items = [
            {key: value for key, value in each.items() if key not in hidden}
            for each in items
            if each["type"] in types and not each["deleted"]
        ]
    offset, end = int(query.get("offset", 0)), int(query.get("offset", 0)) + _PAGE
    more = f"http://{host}{url.path}?limit={_PAGE}&offset={end}" if end < len(items) else None
    return {"count": len(items), "next": more, "previous": None, "results": items[offset:end]}
