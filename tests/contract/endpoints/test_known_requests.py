"""Requests that were sent before: answered before routing, and never from what has changed since.

Source: docs/adr/0059-answered-before-routing.md.
"""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from hoglet.access.rate_limit import RateLimit
from hoglet.endpoints.run.fast_path import MAX_REQUEST_BYTES
from hoglet.endpoints.settings import EndpointSettings
from hoglet.sandbox import Sandbox
from hoglet.warehouse import ClickHouseWarehouse
from support.endpoints import EndpointWorld, open_endpoints

REFRESH = pytest.mark.parametrize("refresh", ["blocking", "force_blocking"])
TIMES = 3
COST = ("hoglet-rows-read", "hoglet-bytes-read", "hoglet-elapsed-seconds")


@pytest_asyncio.fixture
async def endpoints(
    tmp_path: Path, warehouse: ClickHouseWarehouse, endpoint_sandbox: Sandbox, fresh_project_id: int
) -> AsyncGenerator[EndpointWorld]:
    """As in a server, callers are cached: known requests are then not checked each time."""
    async with open_endpoints(
        tmp_path, warehouse, endpoint_sandbox, fresh_project_id, cache_seconds=60
    ) as opened:
        yield opened


async def repeated(endpoints: EndpointWorld, name: str, **body: Any) -> list[httpx.Response]:
    """The responses to the same run, sent often enough to be known; all succeed."""
    responses = [await endpoints.run(name, **body) for _ in range(TIMES)]
    assert [each.status_code for each in responses] == [200] * TIMES
    return responses


def without_ids(headers: httpx.Headers) -> dict[str, str]:
    varying = ("x-request-id", "hoglet-elapsed-seconds")
    return {name: value for name, value in headers.items() if name not in varying}


def without_cost(headers: httpx.Headers) -> dict[str, str]:
    """What the engine reports of a result in blocks may lack the last one."""
    return {name: value for name, value in without_ids(headers).items() if name not in COST}


def scope_of(request: httpx.Request, *, http_version: str = "1.1") -> dict[str, Any]:
    path = request.url.path
    return {
        "type": "http",
        "http_version": http_version,
        "method": request.method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": b"",
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": ("127.0.0.1", 4711),
        "server": ("h", 80),
    }


async def is_known(endpoints: EndpointWorld, name: str, body: dict[str, Any]) -> bool:
    """Whether this run is answered before it is routed, once it was sent."""
    await endpoints.ran(name, **body)
    request = endpoints.client.build_request("POST", f"{endpoints.base}/{name}/run", json=body)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": request.content, "more_body": False}

    scope = {**scope_of(request), "app": endpoints.app}
    return await endpoints.services.known_requests.answer(scope, receive) is not None


async def test_a_known_run_differs_in_its_execution_id_only(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT number AS n FROM numbers(3)", name="a")
    first, second, third = await repeated(endpoints, "a")
    assert (first.json()["is_cached"], second.json()["is_cached"]) == (False, True)
    assert len({each.json()["execution_id"] for each in (first, second, third)}) == 3
    assert len({each.headers["x-request-id"] for each in (first, second, third)}) == 3
    differing = {"execution_id": "", "is_cached": True}
    assert first.json() | differing == second.json() | differing == third.json() | differing
    assert list(first.json()) == list(third.json())
    assert int(third.headers["content-length"]) == len(third.content)
    assert third.headers["vary"] == "Accept"
    assert first.headers["access-control-expose-headers"] in third.headers.values()
    assert third.headers["hoglet-rows-read"] == "0"
    assert without_ids(second.headers) == without_ids(third.headers)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "query", ["SELECT 1 AS n", "SELECT repeat('x', 100) AS n FROM numbers(20000) LIMIT 20000"]
)
async def test_a_known_run_that_is_computed_has_the_response_of_the_first(
    endpoints: EndpointWorld, method: str, query: str
) -> None:
    await endpoints.create(query, name="a")
    url = f"{endpoints.base}/a/run"
    sent: dict[str, Any] = {"params": {"refresh": "force_blocking"}}
    if method == "POST":
        sent = {"json": {"refresh": "force_blocking"}}
    runs = [await endpoints.client.request(method, url, **sent) for _ in range(TIMES)]
    bodies = [each.json() for each in runs]
    assert len({each.pop("execution_id") for each in bodies}) == TIMES
    assert bodies[0] == bodies[1] == bodies[2]
    headers = [without_cost(each.headers) for each in runs]
    assert headers[0] == headers[1] == headers[2]
    assert all(float(runs[2].headers[name]) > 0 for name in COST)
    if method == "GET":
        etag = {"If-None-Match": runs[0].headers["etag"]}
        known = [await endpoints.client.get(url, headers=etag, **sent) for _ in range(TIMES)]
        assert [(each.status_code, each.content) for each in known] == [(304, b"")] * TIMES
        described = [without_cost(each.headers) for each in known]
        assert described[0] == described[1] == described[2]


@REFRESH
async def test_the_error_of_a_known_run_is_that_of_the_first(
    endpoints: EndpointWorld, refresh: str
) -> None:
    await endpoints.create("SELECT intDiv(1, number) FROM numbers(10)", name="a")
    failed = [await endpoints.run("a", refresh=refresh) for _ in range(TIMES)]
    assert [each.status_code for each in failed] == [400] * TIMES
    assert failed[0].json() == failed[1].json() == failed[2].json()
    headers = [without_ids(each.headers) for each in failed]
    assert headers[0] == headers[1] == headers[2]
    await endpoints.services.query_log.flush()
    await endpoints.create("SELECT query_id, exception FROM query_log", name="log")
    logged = (await endpoints.ran("log", refresh="force_blocking"))["results"]
    assert len({query_id for query_id, _ in logged}) == TIMES
    assert all("ivision by zero" in exception for _, exception in logged)


@REFRESH
async def test_a_key_that_ends_is_refused_at_once(endpoints: EndpointWorld, refresh: str) -> None:
    await endpoints.create(name="a")
    body = {"label": "short-lived", "scopes": ["endpoint:read"]}
    created = (await endpoints.client.post("/api/personal_api_keys/", json=body)).json()
    headers = {"Authorization": f"Bearer {created['value']}"}

    async def run() -> int:
        url = f"{endpoints.base}/a/run"
        sent = await endpoints.client.post(url, json={"refresh": refresh}, headers=headers)
        return sent.status_code

    assert [await run() for _ in range(TIMES)] == [200] * TIMES
    await endpoints.client.delete(f"/api/personal_api_keys/{created['id']}")
    assert await run() == 401


@REFRESH
async def test_a_key_runs_only_what_its_own_scopes_allow(
    endpoints: EndpointWorld, refresh: str
) -> None:
    await endpoints.create(name="a")
    await repeated(endpoints, "a", refresh=refresh)
    for scopes, status in ((["insight:read"], 403), (["endpoint:read"], 200)):
        headers = {"Authorization": f"Bearer {await endpoints.world.add_key(scopes)}"}
        url = f"{endpoints.base}/a/run"
        sent = await endpoints.client.post(url, json={"refresh": refresh}, headers=headers)
        assert sent.status_code == status


@REFRESH
async def test_changes_of_an_endpoint_show_at_once(endpoints: EndpointWorld, refresh: str) -> None:
    await endpoints.create("SELECT 1", name="a")
    await repeated(endpoints, "a", refresh=refresh)
    await endpoints.patch("/a", {"query": {"kind": "HogQLQuery", "query": "SELECT 2"}})
    changed = await endpoints.ran("a", refresh=refresh)
    assert (changed["results"], changed["endpoint_version"]) == ([[2]], 2)
    await repeated(endpoints, "a", refresh=refresh)
    await endpoints.patch("/a", {"is_active": False})
    assert (await endpoints.run("a", refresh=refresh)).status_code == 404
    await endpoints.patch("/a", {"is_active": True})
    await repeated(endpoints, "a", refresh=refresh)
    assert (await endpoints.client.delete(f"{endpoints.base}/a")).status_code == 204
    assert (await endpoints.run("a", refresh=refresh)).status_code == 404
    await endpoints.create("SELECT 3", name="a")
    assert (await endpoints.ran("a", refresh=refresh))["results"] == [[3]]


@REFRESH
async def test_an_alias_that_moves_takes_its_runs_with_it(
    endpoints: EndpointWorld, refresh: str
) -> None:
    await endpoints.create("SELECT 1", name="a")
    await endpoints.patch("/a", {"query": {"kind": "HogQLQuery", "query": "SELECT 2"}})
    alias = f"{endpoints.base}/a/aliases/prod"
    for version in (1, 2, 1):
        await endpoints.client.put(alias, json={"version": version})
        runs = await repeated(endpoints, "a", version="prod", refresh=refresh)
        assert [each.json()["results"] for each in runs] == [[[version]]] * TIMES
    await endpoints.client.delete(alias)
    assert (await endpoints.run("a", version="prod", refresh=refresh)).status_code == 400


@REFRESH
async def test_other_values_and_a_changed_project_show_at_once(
    endpoints: EndpointWorld, refresh: str
) -> None:
    identifier = await endpoints.add_variable("x", "String", "before")
    variables = {identifier: {"variableId": identifier, "code_name": "x"}}
    query = "SELECT {variables.x}"
    await endpoints.create({"kind": "HogQLQuery", "query": query, "variables": variables}, name="a")
    await repeated(endpoints, "a", refresh=refresh)
    for value in ("one", "two"):
        runs = await repeated(endpoints, "a", refresh=refresh, variables={"x": value})
        assert [each.json()["results"] for each in runs] == [[[value]]] * TIMES
    project = f"/api/projects/{endpoints.project_id}"
    await endpoints.client.patch(f"{project}/", json={"timezone": "Asia/Tokyo"})
    assert (await endpoints.ran("a", refresh=refresh))["timezone"] == "Asia/Tokyo"


async def test_a_known_run_obeys_the_headers_that_it_is_sent_with(
    endpoints: EndpointWorld,
) -> None:
    await endpoints.create("SELECT number AS n FROM numbers(2)", name="a")
    url = f"{endpoints.base}/a/run"
    for _ in range(TIMES):
        plain = await endpoints.client.get(url)
        text = await endpoints.client.get(url, headers={"Accept": "text/csv"})
        known = await endpoints.client.get(url, headers={"If-None-Match": plain.headers["etag"]})
        other = await endpoints.client.get(url, headers={"If-None-Match": '"other"'})
        refused = await endpoints.client.get(url, headers={"Accept": "image/png"})
        assert plain.json()["results"] == [[0], [1]]
        assert text.text.splitlines() == ["n", "0", "1"]
        assert (known.status_code, known.content, other.status_code) == (304, b"", 200)
        assert known.headers["etag"] == plain.headers["etag"]
        assert "access-control-allow-origin" in known.headers
        assert refused.status_code == 406


async def test_a_large_known_run_is_compressed_for_those_who_ask(
    endpoints: EndpointWorld,
) -> None:
    await endpoints.create("SELECT number AS n FROM numbers(1000) LIMIT 1000", name="a")
    url = f"{endpoints.base}/a/run"
    for _ in range(TIMES):
        plain = await endpoints.client.post(url, json={}, headers={"Accept-Encoding": "identity"})
        packed = await endpoints.client.post(url, json={}, headers={"Accept-Encoding": "gzip"})
        assert packed.headers["content-encoding"] == "gzip"
        assert "content-encoding" not in plain.headers
        assert packed.json()["results"] == plain.json()["results"]


@REFRESH
async def test_known_runs_are_counted_once_each(
    tmp_path: Any,
    warehouse: ClickHouseWarehouse,
    endpoint_sandbox: Sandbox,
    fresh_project_id: int,
    refresh: str,
) -> None:
    settings = EndpointSettings(runs=RateLimit(per_minute=4))
    async with open_endpoints(
        tmp_path, warehouse, endpoint_sandbox, fresh_project_id, settings
    ) as endpoints:
        await endpoints.create(name="a")
        statuses = [(await endpoints.run("a", refresh=refresh)).status_code for _ in range(5)]
        assert statuses == [200, 200, 200, 200, 429]
        refused = await endpoints.run("a", refresh=refresh)
        assert refused.json()["code"] == "throttled"
        assert "retry-after" in refused.headers
        assert refused.headers["access-control-allow-origin"] == "*"


@REFRESH
async def test_each_known_run_is_logged(endpoints: EndpointWorld, refresh: str) -> None:
    await endpoints.create("SELECT 1", name="a")
    runs = await repeated(endpoints, "a", refresh=refresh)
    await endpoints.services.query_log.flush()
    await endpoints.create("SELECT query_id, is_cached, result_rows FROM query_log", name="log")
    ids = {each.json()["execution_id"] for each in runs}
    logged = (await endpoints.ran("log", refresh="force_blocking"))["results"]
    assert {query_id for query_id, _, _ in logged} == ids
    assert {rows for _, _, rows in logged} == {1}
    expected = {int(each.json()["is_cached"]) for each in runs}
    assert {int(is_cached) for _, is_cached, _ in logged} == expected


async def test_a_result_that_has_expired_is_computed_again(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT now64(6)", name="a", cache_age_seconds=300)
    before = await endpoints.ran("a")
    assert (await repeated(endpoints, "a"))[-1].json()["results"] == before["results"]
    endpoints.world.clock.advance(seconds=301)
    after = await endpoints.ran("a")
    assert (after["is_cached"], after["results"] != before["results"]) == (False, True)


@pytest.mark.parametrize("refresh", ["blocking", "force_cache"])
async def test_a_known_run_of_a_table_ends_with_the_table(
    endpoints: EndpointWorld, refresh: str
) -> None:
    body = {"is_materialized": True, "data_freshness_seconds": 900}
    await endpoints.create("SELECT now64(6) AS at", name="a", **body)
    await endpoints.services.jobs.drain()
    endpoints.world.clock.advance(seconds=800)
    runs = [each.json() for each in await repeated(endpoints, "a", refresh=refresh)]
    assert [each["endpoint_materialized"] for each in runs] == [True] * TIMES
    assert runs[-1]["is_cached"] is True

    endpoints.world.clock.advance(seconds=101)
    after = await endpoints.ran("a", refresh=refresh)
    assert "endpoint_materialized" not in after
    assert (after["is_cached"], after["results"] != runs[0]["results"]) == (False, True)


async def test_large_requests_are_not_remembered(endpoints: EndpointWorld) -> None:
    """Remembered ones would otherwise take as much memory as their senders like."""
    variable = await endpoints.add_variable("text", "String", default="")
    node = {
        "kind": "HogQLQuery",
        "query": "SELECT length({variables.text}) AS n",
        "variables": {variable: {"variableId": variable, "code_name": "text"}},
    }
    await endpoints.create(node, name="a")
    assert await is_known(endpoints, "a", {"variables": {"text": "x" * 1000}})
    large = {"variables": {"text": "x" * MAX_REQUEST_BYTES}}
    assert not await is_known(endpoints, "a", large)
    assert (await endpoints.ran("a", **large))["results"] == [[MAX_REQUEST_BYTES]]


async def test_a_large_body_with_a_known_head_is_413(endpoints: EndpointWorld) -> None:
    """HTTP/2 requests may have a body without announcing its length."""
    await endpoints.create(name="a")
    url = f"{endpoints.base}/a/run"
    for _ in range(TIMES):
        assert (await endpoints.client.get(url)).status_code == 200
    endpoints.app.state.body_limit_bytes = 1000
    request = endpoints.client.build_request("GET", url)
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b" " * 1001, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = scope_of(request, http_version="2")
    await endpoints.app(scope, receive, send)
    assert sent[0]["status"] == 413
