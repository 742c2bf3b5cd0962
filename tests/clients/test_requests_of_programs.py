"""Recorded requests of the ``posthog-cli`` program and of MCP clients:
docs/spec/query-endpoints.md#11-clients-and-what-they-need.

The program cannot be had here (it is no part of its package); these are its documented requests.
"""

import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.clients import Post, run
from support.server import RunningServer

pytestmark = pytest.mark.clients

E = "/api/environments/1/endpoints"


@pytest.fixture(scope="module")
def client(server: RunningServer) -> httpx.Client:
    return server.client


def test_push_pull_diff_and_run(client: httpx.Client, post: Post) -> None:
    variable = post("insight_variables", {"name": "Event name", "type": "String"})
    query = {
        "kind": "HogQLQuery",
        "query": "SELECT {variables.event_name} AS name",
        "variables": {
            variable["id"]: {
                "variableId": variable["id"],
                "code_name": variable["code_name"],
                "value": "$pageview",
            }
        },
    }
    body = {"name": "pushed", "description": "", "query": query}
    assert client.get(f"{E}/").json()["results"] is not None  # push reads all before it writes
    response = client.post(f"{E}/", json=body)
    assert response.status_code == 201, response.text

    listed = {each["name"]: each for each in client.get(f"{E}/").json()["results"]}
    pulled = listed["pushed"]
    assert isinstance(pulled["description"], str)
    for key in ("id", "created_at", "updated_at", "endpoint_path"):
        assert isinstance(pulled[key], str)
    assert pulled["is_active"] is True
    assert pulled["is_materialized"] is False
    # a pull followed by a push of the same file changes nothing
    same = client.put(f"{E}/pushed/", json={"description": "", "query": pulled["query"]})
    assert same.json()["current_version"] == 1
    short = {key: value for key, value in pulled["query"].items() if value is not None}
    assert client.patch(f"{E}/pushed/", json={"query": short}).json()["current_version"] == 1

    assert client.post(f"{E}/pushed/run", json={}).json()["results"] == [["$pageview"]]
    ran = client.post(f"{E}/pushed/run", json={"variables": {"event_name": "signup"}})
    assert ran.json()["results"] == [["signup"]]
    changed = client.patch(
        f"/api/projects/1/insight_variables/{variable['id']}/", json={"name": "E"}
    )
    assert changed.json()["code_name"] == "event_name"


def with_key(server: RunningServer, scopes: str) -> httpx.Client:
    """A caller whose key has these scopes alone, as the documentation of the program asks."""
    hoglet = Path(sys.executable).parent / "hoglet"
    words = ["key", "create", f"--scopes={scopes}", f"--data-dir={server.data_dir}"]
    key = run([hoglet, *words]).strip().splitlines()[-1]
    return httpx.Client(base_url=server.url, headers={"Authorization": f"Bearer {key}"})


def test_scopes_of_the_program(server: RunningServer) -> None:
    query = {"kind": "HogQLQuery", "query": "SELECT {variables.word_of_it} AS w"}
    with with_key(server, "endpoint:write,insight_variable:write") as pushes:
        assert pushes.get("/api/environments/1/insight_variables/").status_code == 200
        variable = pushes.post(
            "/api/environments/1/insight_variables/", json={"name": "Word of it", "type": "String"}
        ).json()
        of_it = {"variableId": variable["id"], "code_name": variable["code_name"]}
        body = {"name": "scoped", "query": query | {"variables": {variable["id"]: of_it}}}
        assert pushes.post(f"{E}/", json=body).status_code == 201
        assert pushes.patch(f"{E}/scoped/", json={"description": "d"}).status_code == 200
    with with_key(server, "endpoint:read") as reads:
        listed = reads.get(f"{E}/").json()["results"]  # list, pull and diff
        assert "scoped" in [each["name"] for each in listed]
        assert reads.get(f"{E}/scoped/").json()["description"] == "d"  # get
        ran = reads.post(f"{E}/scoped/run/", json={"variables": {"word_of_it": "7"}})
        assert ran.json()["results"] == [["7"]]
        refused = reads.patch(f"{E}/scoped/", json={"description": "e"})
        assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
        assert "endpoint:write" in refused.json()["detail"]


def test_what_an_mcp_client_does(client: httpx.Client) -> None:
    query = {"kind": "TrendsQuery", "series": [{"kind": "EventsNode", "event": "$pageview"}]}
    response = client.post(f"{E}/", json={"name": "mcp", "query": query, "is_materialized": None})
    assert response.status_code == 201, response.text
    assert client.get(f"{E}/mcp").json()["query"]["series"][0]["event"] == "$pageview"
    changed = client.patch(f"{E}/mcp", json={"description": "told", "tags": ["x"]})
    assert changed.json()["current_version"] == 1
    ran = client.post(f"{E}/mcp/run", json={"refresh": "blocking", "variables": None})
    assert isinstance(ran.json()["results"], list)
    versions = client.get(f"{E}/mcp/versions").json()
    assert [each["version"] for each in versions["results"]] == [1]
    assert client.get(f"{E}/mcp/materialization_status").json()["name"] == "mcp"
    assert client.patch(f"{E}/mcp", json={"deleted": True}).json() == {"success": True}
    assert client.get(f"{E}/mcp").status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {"limit": None, "offset": None, "variables": None, "version": None},
        {"client_query_id": None, "filters_override": None, "query_override": None},
    ],
)
def test_nulls_of_typed_clients(client: httpx.Client, body: dict[str, Any]) -> None:
    query = {"kind": "HogQLQuery", "query": "SELECT 1"}
    client.post(f"{E}/", json={"name": "nulls", "query": query})
    assert client.post(f"{E}/nulls/run", json=body).json()["results"] == [[1]]
