"""schemathesis on our own OpenAPI document: no 500, no answer that is not as described.

Deterministic: the same requests every time. ``HOGLET_FUZZ_EXAMPLES`` draws more of them.
"""

import json
import os
from typing import Any

import pytest

from support.clients import HERE, TOOLS, Post, run
from support.server import KEY, TOKEN, RunningServer

pytestmark = pytest.mark.clients

EXAMPLES = os.environ.get("HOGLET_FUZZ_EXAMPLES", "10")
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
]
ENDLESS = "logs/stream"
SCHEMA = [
    {"type": "string", "key": "url", "label": "URL", "required": False},
    {"type": "string", "key": "token", "label": "Token", "secret": True, "required": False},
]
INPUTS = {"url": {"value": "http://127.0.0.1:1/"}, "token": {"value": "s3cret"}}
FUNCTIONS = {
    "destination": "print(event.event); fetch(inputs.url)",
    "transformation": "return event",
    "site_app": "export function onLoad() {}",
    "source_webhook": "return {'httpResponse': {'status': 201, 'body': 'ok'}}",
}


@pytest.fixture(scope="module")
def seeded(server: RunningServer, post: Post) -> dict[str, list[str]]:
    """Values of path parameters that exist."""
    functions: list[str] = []
    for kind, hog in FUNCTIONS.items():
        body = {"type": kind, "name": kind, "hog": hog, "enabled": True}
        if kind == "destination":
            body |= {"inputs_schema": SCHEMA, "inputs": INPUTS}
        functions.append(post("hog_functions", body)["id"])
    variable = post("insight_variables", {"name": "n", "type": "Number", "default_value": 1})
    for name, query in queries(variable["id"]).items():
        post("endpoints", {"name": name, "query": query, "is_materialized": name == "kept"})
    action = post("actions", {"name": "a", "steps": [{"event": "$pageview"}]})
    integration = post("integrations", {"kind": "slack", "access_token": "t"})
    export = server.client.post(f"/api/projects/1/hog_functions/{functions[0]}/enable_backfills")
    batch = {"api_key": TOKEN, "batch": [{"event": "$pageview", "distinct_id": "u"}]}
    assert server.client.post("/batch/", json=batch).status_code == 200
    return {
        "project_id": ["1", "@current"],
        "organization_id": ["@current"],
        "function_id": functions,
        "name": [*queries(""), functions[-1]],
        "version_number": ["1", "2"],
        "variable_id": [variable["id"]],
        "action_id": [str(action["id"])],
        "integration_id": [str(integration["id"])],
        "batch_export_id": [export.json()["batch_export_id"]],
        "template_id": ["template-slack", "template-webhook"],
        "token": [TOKEN],
    }


def queries(variable_id: str) -> dict[str, Any]:
    definition = {"variableId": variable_id, "code_name": "n", "value": 1}
    return {
        "plain": {
            "kind": "HogQLQuery",
            "query": "SELECT event, count() FROM events GROUP BY event",
        },
        "filtered": {"kind": "HogQLQuery", "query": "SELECT count() FROM events WHERE {filters}"},
        "variable": {
            "kind": "HogQLQuery",
            "query": "SELECT number FROM numbers(9) WHERE number >= {variables.n}",
            "variables": {variable_id: definition},
        },
        "kept": {"kind": "HogQLQuery", "query": "SELECT event, timestamp FROM events"},
        "trend": {
            "kind": "TrendsQuery",
            "series": [{"kind": "EventsNode", "event": "$pageview"}],
            "breakdownFilter": {"breakdown": "$browser", "breakdown_type": "event"},
        },
    }


def test_fuzz(server: RunningServer, seeded: dict[str, list[str]]) -> None:
    environment = os.environ | {
        "HOGLET_FUZZ_SEEDED": json.dumps(seeded),
        "SCHEMATHESIS_HOOKS": "fuzz_hooks",
        "PYTHONPATH": str(HERE),
    }
    command = [
        TOOLS / "st",
        "run",
        f"{server.url}/api/schema",
        f"--header=Authorization: Bearer {KEY}",
        f"--checks={','.join(CHECKS)}",
        f"--exclude-path-regex={ENDLESS}",
        f"--max-examples={EXAMPLES}",
        "--phases=coverage,fuzzing",
        "--generation-deterministic",
        "--continue-on-failure",
        "--warnings=off",
        "--request-timeout=60",
    ]
    run(command, env=environment, cwd=server.data_dir, seconds=1800)
