"""The MCP server: messages, one tool for each endpoint, and what a key cannot reach with it."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
import pytest_asyncio

from hoglet.sandbox import Sandbox
from hoglet.warehouse import ClickHouseWarehouse
from support.endpoints import EndpointWorld, open_endpoints

AT = datetime(2026, 1, 4, 12, tzinfo=UTC)
BY_PLAN = (
    "SELECT properties.plan AS plan, count() AS n FROM events "
    "WHERE properties.tenant = {variables.tenant} AND properties.plan = {variables.plan} "
    "GROUP BY plan ORDER BY plan"
)
TRENDS = {
    "kind": "TrendsQuery",
    "series": [{"kind": "EventsNode", "event": "used"}],
    "dateRange": {"date_from": "-30d"},
    "breakdownFilter": {"breakdowns": [{"property": "$browser", "type": "event"}]},
}


@dataclass
class Agent:
    """Sends messages with one key."""

    endpoints: EndpointWorld
    key: str = ""

    async def post(self, message: Any, path: str = "", **headers: str) -> httpx.Response:
        path = path or f"/api/projects/{self.endpoints.project_id}/mcp"
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        content = message if isinstance(message, bytes) else json.dumps(message)
        return await self.endpoints.client.post(
            path, content=content, headers={"Content-Type": "application/json", **headers}
        )

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        answer = await self.post(message)
        assert answer.status_code == 200, answer.text
        assert answer.json()["id"] == 7
        return answer.json()

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.ask("tools/call", name=tool, arguments=arguments)
        return answer["result"]

    async def rows(self, tool: str, **arguments: Any) -> list[Any]:
        result = await self.call(tool, **arguments)
        assert not result["isError"], result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]["results"]

    async def error(self, tool: str, **arguments: Any) -> str:
        result = await self.call(tool, **arguments)
        assert result["isError"], result
        return result["content"][0]["text"]

    async def tools(self) -> dict[str, dict[str, Any]]:
        listed = (await self.ask("tools/list"))["result"]["tools"]
        names = [tool["name"] for tool in listed]
        assert len(names) == len(set(names))
        return {tool["name"]: tool for tool in listed}


@pytest_asyncio.fixture(scope="module")
async def agent(
    tmp_path_factory: pytest.TempPathFactory,
    warehouse: ClickHouseWarehouse,
    endpoint_sandbox: Sandbox,
) -> AsyncGenerator[Agent]:
    folder = tmp_path_factory.mktemp("mcp")
    async with open_endpoints(folder, warehouse, endpoint_sandbox, 900_028) as endpoints:
        await endpoints.add_events(
            [
                ("used", AT, f"{tenant}{plan}", json.dumps({"tenant": tenant, "plan": plan}))
                for tenant in ("ant", "bee")
                for plan in ("pro", "pro", "free")
            ]
        )
        await endpoints.add_variable("tenant", "String", "bee")
        await endpoints.add_variable("plan", "String")
        await endpoints.add_variable("limit", "Number", 3)
        await endpoints.create(BY_PLAN, name="by_plan", description="Counts by plan.")
        await endpoints.create("SELECT number FROM numbers(500)", name="numbers-500")
        await endpoints.create("SELECT {variables.limit} AS x", name="own_limit")
        await endpoints.create(TRENDS, name="trends", optional_breakdown_properties=["$browser"])
        created = await endpoints.create("SELECT 1", name="paused")
        await endpoints.patch(f"/{created['name']}", {"is_active": False})
        yield Agent(endpoints)


async def tenant(agent: Agent, *names: str, **variables: Any) -> Agent:
    answer = await agent.endpoints.client.post(
        f"/api/projects/{agent.endpoints.project_id}/tenant_tokens",
        json={"endpoints": list(names), "variables": variables},
    )
    assert answer.status_code == 201, answer.text
    return Agent(agent.endpoints, answer.json()["token"])


async def personal(agent: Agent, **body: Any) -> Agent:
    answer = await agent.endpoints.client.post(
        "/api/personal_api_keys", json={"label": "agent", **body}
    )
    assert answer.status_code == 201, answer.text
    return Agent(agent.endpoints, answer.json()["value"])


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_the_handshake_agrees_on_the_clients_version(agent: Agent, version: str) -> None:
    client = {"name": "test", "version": "1"}
    answer = await agent.ask(
        "initialize", protocolVersion=version, capabilities={}, clientInfo=client
    )
    assert answer["result"]["protocolVersion"] == version
    assert answer["result"]["capabilities"] == {"tools": {"listChanged": False}}


@pytest.mark.parametrize("version", ["2019-01-01", None, 7, ["2025-11-25"], {}])
async def test_an_unknown_version_gets_the_newest(agent: Agent, version: Any) -> None:
    answer = await agent.ask("initialize", protocolVersion=version)
    assert answer["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    ("message", "attr"),
    [
        (b"{", None),
        (b"\xff", None),
        (b"[" * 5000, None),
        (b"[" * 500 + b"]" * 500, None),
        (b"", "jsonrpc"),
        (5, "jsonrpc"),
        ([], "jsonrpc"),
        ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], "jsonrpc"),
        ({"id": 1, "method": "ping"}, "jsonrpc"),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, "jsonrpc"),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, "id"),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, "id"),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, "id"),
        ({"jsonrpc": "2.0", "id": "x" * 201, "method": "ping"}, "id"),
        ({"jsonrpc": "2.0"}, "method"),
        ({"jsonrpc": "2.0", "method": "ping", "params": 1}, "params"),
    ],
)
async def test_what_is_no_message_is_400(agent: Agent, message: Any, attr: str | None) -> None:
    answer = await agent.post(message)
    assert (answer.status_code, answer.json()["attr"]) == (400, attr), answer.text


async def test_a_message_of_more_than_a_megabyte_is_413(agent: Agent) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "x" * 1_100_000}}
    assert (await agent.post(message)).status_code == 413


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({}, -32600),
        ({"method": 5}, -32600),
        ({"method": "ping", "params": []}, -32600),
        ({"method": "ping", "params": None}, -32600),
        ({"method": "tools/drop"}, -32601),
        ({"method": ""}, -32601),
        ({"method": "tools/call"}, -32602),
        ({"method": "tools/call", "params": {"name": ["query"]}}, -32602),
        ({"method": "tools/call", "params": {"name": "nothing"}}, -32602),
        ({"method": "tools/call", "params": {"name": "query", "arguments": []}}, -32602),
    ],
)
async def test_wrong_requests_get_an_error_with_its_code(
    agent: Agent, request_: dict[str, Any], code: int
) -> None:
    answer = await agent.post({"jsonrpc": "2.0", "id": "a"} | request_)
    assert (answer.status_code, answer.json()["id"]) == (200, "a"), answer.text
    assert answer.json()["error"]["code"] == code


async def test_notifications_and_responses_are_accepted_without_a_body(agent: Agent) -> None:
    for message in (
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "query"}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ):
        answer = await agent.post(message)
        assert (answer.status_code, answer.content) == (202, b"")


async def test_an_unsupported_version_header_names_the_supported_ones(agent: Agent) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "server/discover"}
    answer = await agent.post(message, **{"MCP-Protocol-Version": "2026-07-28"})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32022
    assert "2025-11-25" in answer.json()["error"]["data"]["supported"]


async def test_there_are_no_sessions_and_no_streams(agent: Agent) -> None:
    path = f"/api/projects/{agent.endpoints.project_id}/mcp"
    for method in ("GET", "DELETE"):
        assert (await agent.endpoints.client.request(method, path)).status_code == 405
        assert (await agent.endpoints.client.request(method, "/mcp")).status_code == 405


@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer phx_wrong", "Basic abc"])
async def test_without_a_valid_key_is_401(agent: Agent, header: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping", "personal_api_key": "phx_wrong"}
    answer = await agent.post(message, Authorization=header)
    assert answer.status_code == 401


async def test_the_key_is_read_from_the_header_only(agent: Agent) -> None:
    key = (await personal(agent, scopes=["*"])).key
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping", "personal_api_key": key}
    for path in ("/mcp", f"/mcp?personal_api_key={key}"):
        assert (await agent.post(message, path, Authorization="")).status_code == 401


async def test_active_endpoints_are_tools_with_typed_arguments(agent: Agent) -> None:
    tools = await agent.tools()

    assert {name for name in tools if name.startswith("run_")} == {
        "run_by_plan",
        "run_numbers-500",
        "run_own_limit",
        "run_trends",
    }
    by_plan = tools["run_by_plan"]
    assert by_plan["description"] == "Counts by plan."
    schema = by_plan["inputSchema"]
    assert set(schema["properties"]) == {"tenant", "plan", "limit", "offset"}
    assert schema["properties"]["plan"]["type"] == "string"
    assert schema["additionalProperties"] is False
    assert set(tools["run_trends"]["inputSchema"]["properties"]) == {
        "browser",
        "date_from",
        "date_to",
    }


async def test_an_endpoint_runs_with_its_arguments(agent: Agent) -> None:
    assert await agent.rows("run_by_plan", tenant="ant", plan="pro") == [["pro", 2]]
    assert await agent.rows("run_by_plan", plan="free") == [["free", 1]]
    assert len(await agent.rows("run_numbers-500")) == 100
    assert await agent.rows("run_numbers-500", limit=2, offset=5) == [[5], [6]]
    assert await agent.rows("run_own_limit", limit=9) == [[9]]
    assert await agent.rows("run_trends", browser="Chrome", date_from="-7d") is not None


async def test_wrong_arguments_are_results_that_say_what_to_change(agent: Agent) -> None:
    assert '"plam"' in (text := await agent.error("run_by_plan", plam="pro"))
    assert "plan" in text.replace("plam", "")
    assert "400" in await agent.error("run_by_plan", plan="pro", limit="many")
    assert "400" in await agent.error("run_by_plan", plan="pro", version=1)
    assert "400" in await agent.error("run_by_plan", plan="pro", debug=True)
    assert "400" in await agent.error("query")
    assert "400" in await agent.error("query", query="SELECT 1", tables="all")
    assert "404" in await agent.error("run_paused")
    assert "404" in await agent.error("run_missing")
    assert "404" in await agent.error("run_../../users/@me")
    assert "nope" in await agent.error("query", query="SELECT nope FROM events")


async def test_the_schema_is_listed_by_table(agent: Agent) -> None:
    tables = (await agent.call("get_schema"))["structuredContent"]["tables"]
    assert {"events", "persons"} <= set(tables)
    fields = (await agent.call("get_schema", table="events"))["structuredContent"]["fields"]
    assert fields["timestamp"] == "datetime"
    assert "events" in await agent.error("get_schema", table="event")


async def test_a_query_is_answered_as_text(agent: Agent) -> None:
    result = await agent.call("query", query="SELECT count() AS n FROM events")
    assert not result["isError"]
    assert "6" in result["content"][0]["text"]


async def test_a_tenant_sees_its_endpoints_without_the_fixed_variables(agent: Agent) -> None:
    token = await tenant(agent, "by_plan", tenant="ant")
    tools = await token.tools()

    assert set(tools) == {"run_by_plan"}
    assert set(tools["run_by_plan"]["inputSchema"]["properties"]) == {"plan", "limit", "offset"}
    assert await token.rows("run_by_plan", plan="pro") == [["pro", 2]]


ATTACKS: list[tuple[str, dict[str, Any]]] = [
    ("query", {"query": "SELECT * FROM events"}),
    ("get_schema", {}),
    ("read_taxonomy", {"kind": "events"}),
    ("list_events", {}),
    ("list_functions", {}),
    ("get_function", {"function_id": "01234567-89ab-cdef-0123-456789abcdef"}),
    ("list_function_logs", {"function_id": "01234567-89ab-cdef-0123-456789abcdef"}),
    ("test_function", {"function_id": "01234567-89ab-cdef-0123-456789abcdef", "event": {}}),
    ("run_numbers-500", {}),
    ("run_missing", {}),
    ("run_BY_PLAN", {"plan": "pro"}),
    ("run_by_plan", {"plan": "pro", "tenant": "bee"}),
    ("run_by_plan", {"plan": "pro", "tenant": ["ant", "bee"]}),
    ("run_by_plan", {"plan": "pro", "tenant": None}),
]


@pytest.mark.parametrize(("tool", "arguments"), ATTACKS)
async def test_a_tenant_token_reaches_nothing_else(
    agent: Agent, tool: str, arguments: dict[str, Any]
) -> None:
    token = await tenant(agent, "by_plan", tenant="ant")
    assert "403" in await token.error(tool, **arguments)


async def test_keys_see_the_tools_of_their_scopes_and_cannot_call_others(agent: Agent) -> None:
    runner = await personal(agent, scopes=["endpoint:read"])
    assert {name.partition("_")[0] for name in await runner.tools()} == {"run"}
    assert "403" in await runner.error("query", query="SELECT 1")

    reader = await personal(agent, scopes=["query:read"])
    assert set(await reader.tools()) == {"query", "get_schema", "read_taxonomy", "list_events"}
    assert "403" in await reader.error("run_by_plan", plan="pro")


async def test_keys_of_another_project_are_403(agent: Agent) -> None:
    other = await personal(agent, scopes=["*"], scoped_teams=[1])
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert (await other.post(message)).status_code == 403
    token = await tenant(agent, "by_plan", tenant="ant")
    assert (await token.post(message, "/api/projects/1/mcp")).status_code == 403
    assert (await token.post(message, "/mcp")).status_code == 200
