"""PyPI ``arcade-posthog-api``: its tools for functions and endpoints against hoglet."""

import json
from typing import Any

import pytest

from support.clients import ARCADE, HERE, Post, run
from support.server import KEY, RunningServer

pytestmark = pytest.mark.clients

HOG = "print('saw', event.event)"
FUNCTION = {"hog_function_uuid": "$$create_hog_function.id", "project_identifier": "1"}
FUNCTION_BY_ID = {"hog_function_id": "$$create_hog_function.id", "project_identifier": "1"}
BODY = {"mode": "execute", "project_id": "1"}
CHANGE = FUNCTION | {"mode": "execute"}
EVENT = {"event": "$pageview", "distinct_id": "x", "properties": {}}
EXPORT = {"batch_export_identifier": "@@export", "project_id": "1"}
WINDOW = {"start_at": "2026-01-01T00:00:00Z", "end_at": "2026-01-02T00:00:00Z"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    (
        "create_hog_function",
        {
            "mode": "execute",
            "project_identifier": "1",
            "request_body": {"type": "destination", "name": "arcade", "hog": HOG, "enabled": True},
        },
    ),
    (
        "track_hog_function_views",
        {"hog_function_uuid": FUNCTION_BY_ID["hog_function_id"], "target_project_id": "1"},
    ),
    ("retrieve_project_hog_function", FUNCTION_BY_ID),
    ("update_hog_functions", CHANGE | {"request_body": {"name": "arcade 2"}}),
    ("modify_hog_functions", CHANGE | {"request_body": {"description": "d"}}),
    (
        "list_project_hog_functions",
        {
            "project_identifier": "1",
            "function_types": ["destination", "transformation"],
            "include_enabled_functions": True,
            "results_per_page": 5,
            "search_term": "arcade",
        },
    ),
    (
        "track_hog_function_invocation",
        BODY
        | {
            "hog_function_id": FUNCTION_BY_ID["hog_function_id"],
            "request_body": {"globals": {"event": EVENT}},
        },
    ),
    (
        "create_hog_function_environment",
        BODY | {"request_body": {"type": "transformation", "name": "order", "hog": "return event"}},
    ),
    (
        "update_hog_functions_order",
        BODY | {"request_body": {"orders": {"$$create_hog_function_environment.id": 7}}},
    ),
    ("list_environment_integrations", {"project_identifier": "1", "results_per_page": 5}),
    (
        "create_environment_integration",
        {
            "mode": "execute",
            "project_identifier": "1",
            "request_body": {"kind": "slack", "access_token": "t"},
        },
    ),
    ("create_backfill_for_batch_export", EXPORT | {"mode": "execute", "request_body": WINDOW}),
    ("list_batch_export_backfills", EXPORT),
    (
        "retrieve_batch_export_backfill",
        EXPORT | {"batch_export_backfill_uuid": "$$create_backfill_for_batch_export.id"},
    ),
    ("retrieve_hog_function_logs", FUNCTION),
    ("retrieve_hog_function_metrics", FUNCTION),
    ("get_hog_function_metrics_totals", FUNCTION),
    ("retrieve_environment_hog_function_icons", {"project_id": "1"}),
    ("delete_hog_function", FUNCTION_BY_ID),
    ("update_environment_endpoint", BODY | {"endpoint_name": "arcade_up", "request_body": {}}),
    ("fetch_endpoint_run_status", {"endpoint_name": "arcade_up", "project_id": "1"}),
    ("retrieve_posthog_endpoint_run", {"endpoint_name": "arcade_up", "project_identifier": "1"}),
    ("get_last_execution_times", {"endpoint_names": ["arcade_up"], "project_id": "1"}),
    (
        "get_organization_project_details",
        {"organization_identifier": "@current", "project_id": "1"},
    ),
]


@pytest.fixture(scope="module")
def given(server: RunningServer, post: Post) -> dict[str, Any]:
    """What each tool gave."""
    query = {"kind": "HogQLQuery", "query": "SELECT 42 AS answer"}
    post("endpoints", {"name": "arcade_up", "query": query})
    function = post("hog_functions", {"name": "to be backfilled", "hog": HOG})
    export = server.client.post(f"/api/projects/1/hog_functions/{function['id']}/enable_backfills")
    calls = json.dumps(CALLS).replace("@@export", export.json()["batch_export_id"])
    lines = run([ARCADE, HERE / "arcade_calls.py", server.url, KEY], input=calls)
    answers = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    return {answer.pop("tool"): answer for answer in answers}


@pytest.mark.parametrize("name", [name for name, _ in CALLS if name != "delete_hog_function"])
def test_tool(given: dict[str, Any], name: str) -> None:
    assert "error" not in given[name], given[name]


def test_answers(given: dict[str, Any]) -> None:
    reported = {name: answer.get("response_json") for name, answer in given.items()}
    assert reported["retrieve_project_hog_function"]["name"] == "arcade"
    assert reported["modify_hog_functions"]["name"] == "arcade 2"
    assert reported["list_project_hog_functions"]["results"][0]["description"] == "d"
    assert reported["track_hog_function_invocation"]["status"] == "success"
    assert reported["create_hog_function_environment"]["execution_order"] is not None
    assert [each["execution_order"] for each in reported["update_hog_functions_order"]] == [7]
    backfill = reported["create_backfill_for_batch_export"]["id"]
    assert reported["retrieve_batch_export_backfill"]["id"] == backfill
    assert [each["id"] for each in reported["list_batch_export_backfills"]["results"]] == [backfill]
    assert reported["create_environment_integration"]["kind"] == "slack"
    assert reported["update_environment_endpoint"]["results"] == [[42]]
    assert reported["get_last_execution_times"]["query_status"]["results"][0][0] == "arcade_up"
    assert given["delete_hog_function"]["status"] == 405  # the specification says always
