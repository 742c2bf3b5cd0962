"""npm ``@posthog/cli``: its API bundle against hoglet, with only the host changed.

Every tool for functions, templates, endpoints and variables of queries is called, but those of
drafts and revisions (``cdp-functions-publish``, ``-discard-draft``, ``-*-revision``): functions
have neither, and such a call is a 404. ``enable_backfills`` has no tool; ``test_arcade`` covers it.

The package's other half, the ``posthog-cli`` program (``exp endpoints …``), is downloaded from
elsewhere while it installs and is not in the package; ``test_requests_of_programs`` sends what its
documentation says it sends.
"""

import json
import os
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest

from support.clients import MODULES, Post
from support.server import KEY, TOKEN, RunningServer

pytestmark = pytest.mark.clients

BUNDLE = MODULES / "@posthog" / "cli" / "lib" / "posthog-api-cli.mjs"
HOG = "print('saw', event.event)"
EVENT = {"event": "cli_event", "distinct_id": "x", "properties": {}}
SECONDS = 60

type Call = Callable[..., Any]


@pytest.fixture
def call(server: RunningServer) -> Call:
    environment = os.environ | {
        "POSTHOG_CLI_HOST": server.url,
        "POSTHOG_CLI_API_KEY": KEY,
        "POSTHOG_CLI_PROJECT_ID": "1",
    }

    def tool(name: str, /, *, fails: bool = False, **arguments: Any) -> Any:
        words = ["call", "--confirm", "--json", name, json.dumps(arguments)]
        done = subprocess.run(
            ["node", BUNDLE, *words],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode != 0) is fails, f"{name}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr if fails else json.loads(done.stdout)

    return tool


@pytest.fixture(scope="module")
def buyers(server: RunningServer) -> list[str]:
    """Three persons; the first two bought, the first came back to look."""
    ids = ["cli_ann", "cli_bob", "cli_cid"]
    names = [("cli_buy", ids[0]), ("cli_buy", ids[1]), ("cli_look", ids[0]), ("cli_look", ids[2])]
    batch = [
        {"event": name, "distinct_id": who, "properties": {"$set": {"cli_team": who}}}
        for name, who in names
    ]
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()
    query = {"kind": "HogQLQuery", "query": "SELECT count() FROM events WHERE event = 'cli_look'"}
    body = {"query": query, "refresh": "force_blocking"}
    deadline = time.monotonic() + SECONDS
    while server.client.post("/api/projects/1/query/", json=body).json()["results"] != [[2]]:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return ids


def test_queries_of_sql(call: Call, buyers: list[str]) -> None:
    assert buyers
    events = "SELECT event, count() AS n FROM events WHERE event IN ('cli_buy', 'cli_look')"
    answer = call("execute-sql", query=f"{events} GROUP BY event ORDER BY event")
    assert answer["results"] == "event|n\ncli_buy|2\ncli_look|2"
    assert answer["columns"] == ["event", "n"]
    assert "evnt" in call("execute-sql", query="SELECT evnt FROM events", fails=True)


@pytest.mark.parametrize(
    ("tool", "arguments", "read", "expected"),
    [
        ("query-trends", {"series": [{"kind": "EventsNode", "event": "cli_buy"}]},
         lambda results: results[0]["count"], 2),
        ("query-funnel", {"series": [{"kind": "EventsNode", "event": "cli_buy"},
                                     {"kind": "EventsNode", "event": "cli_look"}]},
         lambda results: [step["count"] for step in results], [2, 1]),
        ("query-retention", {"retentionFilter": {
            "targetEntity": {"id": "cli_buy", "name": "cli_buy", "type": "events"},
            "returningEntity": {"id": "cli_look", "name": "cli_look", "type": "events"}}},
         lambda results: results[-1]["values"][0]["count"], 2),
        ("query-lifecycle", {"series": [{"kind": "EventsNode", "event": "cli_buy"}]},
         lambda results: sum(each["count"] for each in results if each["status"] == "new"), 2),
        ("query-stickiness", {"series": [{"kind": "EventsNode", "event": "cli_buy"}]},
         lambda results: results[0]["data"][0], 2),
        ("query-paths", {"pathsFilter": {"includeEventTypes": ["custom_event"]}},
         lambda results: [each["value"] for each in results if each["source"] == "1_cli_buy"], [1]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_queries_of_insights(
    call: Call,
    buyers: list[str],
    tool: str,
    arguments: dict[str, Any],
    read: Callable[[Any], Any],
    expected: Any,
) -> None:
    assert buyers
    answer = call(tool, dateRange={"date_from": "-1d"}, **arguments)
    assert read(answer["results"]) == expected


def test_persons_cohorts_and_definitions(call: Call, buyers: list[str]) -> None:
    values = call("persons-values-retrieve", key="cli_team")["results"]
    assert sorted(each["name"] for each in values) == buyers
    [person] = call("persons-list", distinct_id=buyers[0])["results"]
    assert call("persons-retrieve", id=str(person["id"]))["distinct_ids"] == [buyers[0]]
    leaf = {"type": "person", "key": "cli_team", "operator": "exact", "value": buyers[0]}
    filters = {"properties": {"type": "AND", "values": [leaf]}}
    created = call("cohorts-create", name="CLI", filters=filters)
    deadline = time.monotonic() + SECONDS
    while (cohort := call("cohorts-retrieve", id=created["id"])).get("count") != 1:
        assert time.monotonic() < deadline, cohort
        time.sleep(0.5)
    assert created["id"] in [each["id"] for each in call("cohorts-list")["results"]]
    assert call("cohorts-partial-update", id=created["id"], name="CLI 2")["name"] == "CLI 2"
    event = call("event-definition-create", eventName="cli announced")
    assert "cli announced" in str(event)


def test_who_and_where(call: Call) -> None:
    assert call("user-get")["email"]
    assert call("organization-get")["projects"][0]["id"] == 1
    assert call("project-get")["id"] == 1


def test_integrations(call: Call, post: Post) -> None:
    integration = post("integrations", {"kind": "slack", "access_token": "t"})
    assert integration["id"] in [each["id"] for each in call("integrations-list")["results"]]
    assert call("integration-get", id=integration["id"])["kind"] == "slack"
    call("integration-delete", id=integration["id"])
    assert "404" in call("integration-get", id=integration["id"], fails=True)


def test_templates(call: Call) -> None:
    listed = call("cdp-function-templates-list", types="destination,transformation", limit=100)
    assert {"template-slack", "template-geoip"} <= {each["id"] for each in listed["results"]}
    template = call("cdp-function-templates-retrieve", template_id="template-slack")
    assert template["inputs_schema"][0]["key"] == "slack_workspace"
    function = call(
        "cdp-functions-create",
        type="destination",
        template_id="template-webhook",
        inputs={"url": {"value": "https://example.com/"}},
    )
    assert (function["name"], function["enabled"]) == ("HTTP Webhook", False)
    assert call("cdp-functions-retrieve", id=function["id"])["template"]["id"] == "template-webhook"


def test_life_of_a_function(call: Call) -> None:
    function = call("cdp-functions-create", type="destination", name="a", hog=HOG, enabled=False)
    listed = call("cdp-functions-list", type=["destination", "transformation"], enabled=False)
    assert function["id"] in [each["id"] for each in listed["results"]]
    filters = {"events": [{"id": EVENT["event"], "type": "events"}]}
    changed = call("cdp-functions-partial-update", id=function["id"], name="b", filters=filters)
    assert changed["filters"]["events"][0]["id"] == EVENT["event"]
    old = "2026-01-01T00:00:00Z"
    stale = {"id": function["id"], "name": "c", "base_updated_at": old}
    assert "409" in call("cdp-functions-partial-update", fails=True, **stale)
    assert call("cdp-functions-retrieve", id=function["id"])["name"] == "b"
    call("cdp-functions-delete", id=function["id"])
    assert "404" in call("cdp-functions-retrieve", id=function["id"], fails=True)


def test_test_runs(call: Call) -> None:
    function = call("cdp-functions-create", type="destination", name="a", hog=HOG)
    test_run = call("cdp-functions-invocations-create", id=function["id"], globals={"event": EVENT})
    assert (test_run["status"], test_run["logs"][0]["message"]) == ("success", "saw, cli_event")
    row = {"uuid": "0199c7b2-0000-7000-8000-000000000000", "event": "of a row", "properties": "{}"}
    changes = {"configuration": {"hog": "return fetch('https://example.com/').status"}}
    test_run = call(
        "cdp-functions-invocations-create",
        id=function["id"],
        clickhouse_event={**row, "distinct_id": "x", "timestamp": "2026-01-05 12:00:00.000000"},
        mock_async_functions=True,
        **changes,
    )
    assert test_run["status"] == "success"
    assert any("https://example.com/" in line["message"] for line in test_run["logs"])


def test_logs_and_metrics(call: Call, server: RunningServer) -> None:
    filters = {"events": [{"id": EVENT["event"], "type": "events"}]}
    function = call(
        "cdp-functions-create", type="destination", hog=HOG, filters=filters, enabled=True
    )
    batch = {"api_key": TOKEN, "batch": [EVENT]}
    assert server.client.post("/batch/", json=batch).status_code == 200
    deadline = time.monotonic() + SECONDS
    while not (logs := call("cdp-functions-logs-retrieve", id=function["id"], search="saw"))[
        "count"
    ]:
        assert time.monotonic() < deadline
        time.sleep(1)
    line = logs["results"][0]
    assert (line["level"], line["message"]) == ("INFO", "saw, cli_event")
    of_it = {"id": function["id"], "instance_id": line["instance_id"], "level": "INFO", "limit": 1}
    assert call("cdp-functions-logs-retrieve", **of_it)["count"] == 1
    expected = {"after": "-24h", "interval": "hour", "breakdown_by": "name"}
    metrics = call("cdp-functions-metrics-retrieve", id=function["id"], **expected)
    sums = {each["name"]: sum(each["values"]) for each in metrics["series"]}
    assert sums["succeeded"] == 1


def test_rearrange(call: Call) -> None:
    function = [
        call("cdp-functions-create", type="transformation", name=name, hog="return event")["id"]
        for name in ("first", "second")
    ]
    orders = {function[0]: 2, function[1]: 1}
    listed = call("cdp-functions-rearrange-partial-update", orders=orders)
    assert [each["id"] for each in listed if each["id"] in function] == function[::-1]


@pytest.fixture(scope="module")
def variable(post: Post) -> dict[str, Any]:
    return post("insight_variables", {"name": "Least one", "type": "Number", "default_value": 3})


def test_variables(call: Call) -> None:
    created = call("sql-variables-create", name="Most of all", type="Number", default_value=3)
    assert created["code_name"] == "most_of_all"
    changed = call("sql-variables-update", id=created["id"], name="Least", values=None)
    assert (changed["default_value"], changed["code_name"]) == (3, "most_of_all")
    call("sql-variables-delete", id=created["id"])


def least_one(variable: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "HogQLQuery",
        "query": "SELECT number FROM numbers(20) WHERE number >= {variables.least_one}",
        "variables": {variable["id"]: {"variableId": variable["id"], "code_name": "least_one"}},
    }


def test_runs_of_an_endpoint(call: Call, variable: dict[str, Any]) -> None:
    query = least_one(variable)
    endpoint = call("endpoint-create", name="cli_up", description="d", query=query, tags=["b", "a"])
    assert endpoint["tags"] == ["a", "b"]
    ran = call("endpoint-run", name="cli_up", variables={"least_one": "18"})
    assert ran["results"] == [[18], [19]]
    page = call("endpoint-run", name="cli_up", limit=2, offset=1, refresh="force")
    assert (page["results"], page["hasMore"]) == ([[4], [5]], True)
    assert "refresh" in call("endpoint-run", name="cli_up", refresh="direct", fails=True)
    assert call("endpoint-logs", name="cli_up", level="INFO")["count"] == 2
    times = call("endpoints-last-execution-times", names=["cli_up"])
    assert times["query_status"]["results"][0][0] == "cli_up"


def test_life_of_an_endpoint(call: Call, variable: dict[str, Any]) -> None:
    query = least_one(variable)
    call("endpoint-create", name="cli_life", query=query, data_freshness_seconds=3600)
    document = call("endpoint-openapi-spec", name="cli_life")
    assert document["openapi"] == "3.0.3"
    assert document["components"]["schemas"]["Variables"]["properties"].keys() == {"least_one"}
    changed = call("endpoint-update", name="cli_life", query={**query, "query": "SELECT 1 AS a"})
    assert changed["current_version"] == 2
    assert call("endpoint-openapi-spec", name="cli_life", version=1)["info"]["version"] == "1"
    versions = call("endpoint-versions", name="cli_life", limit=1)
    assert ([each["version"] for each in versions["results"]], versions["count"]) == ([2], 2)
    assert call("endpoint-get", name="cli_life")["columns"] == [{"name": "a", "type": "integer"}]
    asleep = call("endpoint-update", name="cli_life", is_active=False, description="asleep")
    assert (asleep["is_active"], asleep["current_version"]) == (False, 2)
    inactive = call("endpoints-get-all", is_active=False)
    assert [each["name"] for each in inactive["results"]] == ["cli_life"]
    assert "not found" in call("endpoint-run", name="cli_life", fails=True).lower()
    call("endpoint-delete", name="cli_life")
    assert "404" in call("endpoint-get", name="cli_life", fails=True)


def test_materialization(call: Call) -> None:
    query = {"kind": "HogQLQuery", "query": "SELECT event FROM events"}
    call("endpoint-create", name="cli_kept", query=query)
    assert call("endpoints-materialization-preview", name="cli_kept")["can_materialize"]
    reported = call("endpoint-materialization-status", name="cli_kept")
    assert (reported["can_materialize"], reported["enabled"]) == (True, False)
    call("endpoint-update", name="cli_kept", is_materialized=True, version=1)
    deadline = time.monotonic() + SECONDS
    while not (reported := call("endpoint-materialization-status", name="cli_kept"))["ready"]:
        assert time.monotonic() < deadline, reported
        time.sleep(1)
    assert (reported["status"], reported["error"], reported["enabled"]) == ("Completed", "", True)
