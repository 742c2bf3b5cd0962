"""npm ``@posthog/cli``: its API bundle against our server, by changing the host only.

The package's other half, the ``posthog-cli`` program (``exp endpoints …``), is downloaded from
elsewhere while it installs and is not in the package; ``test_requests_of_programs`` sends what its
documentation says it sends.
"""

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from support.clients import MODULES
from support.server import KEY, RunningServer

pytestmark = pytest.mark.clients

BUNDLE = MODULES / "@posthog" / "cli" / "lib" / "posthog-api-cli.mjs"
HOG = "print('saw', event.event)"

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


def test_who_and_where(call: Call) -> None:
    assert call("user-get")["email"]
    assert call("organization-get")["projects"][0]["id"] == 1
    assert call("project-get")["id"] == 1
    assert call("integrations-list")["results"] == []


def test_functions(call: Call) -> None:
    template = call("cdp-function-templates-retrieve", template_id="template-slack")
    assert template["inputs_schema"][0]["key"] == "slack_workspace"
    made = call("cdp-functions-create", type="destination", name="a", hog=HOG, enabled=True)
    filters = {"events": [{"id": "$pageview", "type": "events"}]}
    changed = call("cdp-functions-partial-update", id=made["id"], name="b", filters=filters)
    assert changed["filters"]["events"][0]["id"] == "$pageview"
    listed = call("cdp-functions-list", type=["destination", "transformation"], enabled=True)
    assert made["id"] in [each["id"] for each in listed["results"]]
    event = {"event": "$pageview", "distinct_id": "x", "properties": {}}
    trial = call("cdp-functions-invocations-create", id=made["id"], globals={"event": event})
    assert (trial["status"], trial["logs"][0]["message"]) == ("success", "saw, $pageview")
    assert call("cdp-functions-logs-retrieve", id=made["id"])["results"] == []
    assert call("cdp-functions-metrics-retrieve", id=made["id"])["series"] == []
    call("cdp-functions-delete", id=made["id"])
    assert "404" in call("cdp-functions-retrieve", id=made["id"], fails=True)


def test_endpoints(call: Call) -> None:
    variable = call("sql-variables-create", name="Least one", type="Number", default_value=3)
    assert variable["code_name"] == "least_one"
    query = {
        "kind": "HogQLQuery",
        "query": "SELECT number FROM numbers(20) WHERE number >= {variables.least_one}",
        "variables": {variable["id"]: {"variableId": variable["id"], "code_name": "least_one"}},
    }
    made = call("endpoint-create", name="cli_up", description="d", query=query, tags=["b", "a"])
    assert made["tags"] == ["a", "b"]
    ran = call("endpoint-run", name="cli_up", variables={"least_one": "18"})
    assert ran["results"] == [[18], [19]]
    page = call("endpoint-run", name="cli_up", limit=2, offset=1, refresh="force")
    assert (page["results"], page["hasMore"]) == ([[4], [5]], True)
    assert "refresh" in call("endpoint-run", name="cli_up", refresh="direct", fails=True)
    changed = call("endpoint-update", name="cli_up", query={**query, "query": "SELECT 1 AS a"})
    assert changed["current_version"] == 2
    assert len(call("endpoint-versions", name="cli_up")["results"]) == 2
    assert call("endpoint-openapi-spec", name="cli_up")["openapi"] == "3.0.3"
    assert call("endpoint-logs", name="cli_up", level="INFO")["count"] == 2
    assert call("endpoint-materialization-status", name="cli_up")["can_materialize"]
    times = call("endpoints-last-execution-times", names=["cli_up"])
    assert times["query_status"]["results"][0][0] == "cli_up"
    call("endpoint-delete", name="cli_up")
    assert "404" in call("endpoint-get", name="cli_up", fails=True)
    call("sql-variables-delete", id=variable["id"])
