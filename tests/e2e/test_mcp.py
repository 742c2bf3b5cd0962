"""The MCP server as the protocol's official client sees it: over HTTP and over stdio.

The client is imported where it is used: it takes 0.3 s, and every worker imports this module.
"""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from support.server import KEY, TOKEN, RunningServer

QUERY = "select {variables.tenant} as tenant, {variables.factor} * 2 as doubled"
CODE = "print('for', event.event)\nfetch(inputs.url, {'body': {'plan': event.properties.plan}})"
SCHEMA = [{"key": "url", "type": "string", "label": "URL", "required": True}]
TOOLS = {
    "query",
    "get_schema",
    "read_taxonomy",
    "list_events",
    "list_functions",
    "get_function",
    "list_function_logs",
    "test_function",
    "run_who",
}


@pytest.fixture(scope="module")
def server(shared_server: RunningServer) -> RunningServer:
    """The shared server: ``/mcp`` works in the first project."""
    post = shared_server.client.post
    for name, kind in (("tenant", "String"), ("factor", "Number")):
        post("/api/projects/1/insight_variables/", json={"name": name, "type": kind})
    body = {"name": "who", "query": {"kind": "HogQLQuery", "query": QUERY}}
    assert post("/api/projects/1/endpoints/", json=body).status_code == 201
    event = {"event": "paid", "distinct_id": "ada", "properties": {"plan": "pro"}}
    assert post("/batch/", json={"api_key": TOKEN, "batch": [event]}).status_code == 200
    return shared_server


@pytest.fixture(scope="module")
def function_id(server: RunningServer) -> str:
    body = {
        "type": "destination",
        "name": "To my URL",
        "hog": CODE,
        "inputs_schema": SCHEMA,
        "inputs": {"url": {"value": "https://hooks.example.com/x"}},
    }
    answer = server.client.post("/api/projects/1/hog_functions/", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


@asynccontextmanager
async def over_http(
    server: RunningServer, key: str = KEY, path: str = "/mcp"
) -> AsyncGenerator[Any]:
    import httpx2
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(server.url + path, http_client=http)
        async with Client(transport) as client:
            yield client


@asynccontextmanager
async def over_stdio(server: RunningServer, key: str = KEY) -> AsyncGenerator[Any]:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters

    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "hoglet", "mcp"],
        env={"HOGLET_URL": server.url, "HOGLET_API_KEY": key},
    )
    async with Client(parameters) as client:
        yield client


async def call(client: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return result.structured_content


@pytest.mark.parametrize("transport", [over_http, over_stdio])
async def test_the_official_client_lists_and_calls_tools(
    server: RunningServer, transport: Any
) -> None:
    async with transport(server) as client:
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} >= TOOLS
        answer = await call(client, "run_who", tenant="ant", factor=4)
        assert answer["results"] == [["ant", 8]]
        wrong = await client.call_tool("run_who", {"tenant": "ant", "factor": "many"})
        assert wrong.is_error
        assert "factor" in wrong.content[0].text


async def test_a_tenant_token_lists_one_endpoint(server: RunningServer) -> None:
    body = {"endpoints": ["who"], "variables": {"tenant": "ant"}}
    answer = server.client.post("/api/projects/1/tenant_tokens/", json=body)
    for transport in (over_http, over_stdio):
        async with transport(server, answer.json()["token"]) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["run_who"]
            assert (await call(client, "run_who", factor=1))["results"] == [["ant", 2]]
            assert (await client.call_tool("query", {"query": "select 1"})).is_error


async def test_functions_are_read_and_tested_without_requests(
    server: RunningServer, function_id: str
) -> None:
    async with over_http(server, path="/api/projects/1/mcp") as client:
        listed = await call(client, "list_functions")
        assert function_id in [item["id"] for item in listed["functions"]]
        function = await call(client, "get_function", function_id=function_id)
        assert function["hog"] == CODE
        event = {"event": "paid", "distinct_id": "ada", "properties": {"plan": "pro"}}
        result = await call(client, "test_function", function_id=function_id, event=event)
        assert result["status"] == "success"
        assert "paid" in str(result["logs"])
        logs = await call(client, "list_function_logs", function_id=function_id)
        assert logs == {"logs": []}
        missing = await client.call_tool("get_function", {"function_id": "abc"})
        assert missing.is_error
        assert "UUID" in missing.content[0].text


def test_stdio_answers_each_line_and_says_why_a_server_does_not(server: RunningServer) -> None:
    import subprocess

    lines = [
        '{"jsonrpc": "2.0", "id": 1, "method": "ping"}',
        "not json",
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        '{"jsonrpc": "2.0", "id": 2, "method": "nothing"}',
    ]
    environment = server.environment | {"HOGLET_URL": server.url, "HOGLET_API_KEY": KEY}
    command = [sys.executable, "-m", "hoglet", "mcp"]
    ran = subprocess.run(
        command,
        input="\n".join(lines),
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    answers = {answer["id"]: answer for answer in map(json.loads, ran.stdout.splitlines())}
    assert answers[1]["result"] == {}
    assert answers[None]["error"]["code"] == -32700
    assert answers[2]["error"]["code"] == -32601
    assert len(answers) == 3

    ran = subprocess.run(
        [*command, "--key", "phx_wrong"],
        input=lines[0],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert "401" in json.loads(ran.stdout)["error"]["message"]
    assert (ran.returncode, ran.stderr.count("401")) == (2, 1)
