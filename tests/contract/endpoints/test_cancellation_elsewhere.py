"""Cancelling a run that waits on another server of the same PostgreSQL."""

import asyncio
from collections.abc import AsyncGenerator
from uuid import uuid4

import httpx
import pytest_asyncio
from sqlalchemy import select

from hoglet.endpoints.container import EndpointBackends, SchemaProviders, build_endpoints
from hoglet.endpoints.run.cancellation import CancelRequests
from hoglet.endpoints.tables import CancelRequestRow
from hoglet.kit.clock import SystemClock
from hoglet.queries.container import build_queries
from hoglet.queue.sql import SqlQueue
from hoglet.sandbox import Sandbox
from hoglet.store.database import Database
from hoglet.warehouse import ClickHouseWarehouse
from support.endpoints import EndpointWorld, open_endpoints

SLOW = "SELECT sum(cityHash64(number)) FROM numbers(20000000000)"


@pytest_asyncio.fixture
async def endpoints(
    postgres_tables_url: str,
    warehouse: ClickHouseWarehouse,
    endpoint_sandbox: Sandbox,
    fresh_project_id: int,
) -> AsyncGenerator[EndpointWorld]:
    async with open_endpoints(
        postgres_tables_url, warehouse, endpoint_sandbox, fresh_project_id
    ) as opened:
        yield opened


def _move_to_another_server(endpoints: EndpointWorld, sandbox: Sandbox) -> None:
    """Further requests are for a server that knows nothing of the first one's runs."""
    world = endpoints.world
    queue = SqlQueue(world.database, world.clock, owner="other")
    other = build_endpoints(
        world.access,
        EndpointBackends(endpoints.warehouse, queue, sandbox),
        SchemaProviders(),
    )
    endpoints.app.state.endpoints = other
    endpoints.app.state.queries = build_queries(other, queue)


async def _until_running(endpoints: EndpointWorld, text: str = "cityHash64") -> None:
    sql = (
        "SELECT count() FROM system.processes WHERE query LIKE {text:String} "
        "AND query NOT LIKE '%system.processes%'"
    )
    while not (await endpoints.warehouse.query(sql, {"text": f"%{text}%"})).rows[0][0]:  # noqa: ASYNC110 (in the engine)
        await asyncio.sleep(0.02)


async def _requests(endpoints: EndpointWorld) -> list[CancelRequestRow]:
    async with endpoints.world.database.read() as session:
        return list(await session.scalars(select(CancelRequestRow)))


async def _cancel(endpoints: EndpointWorld, name: str, query_id: str) -> httpx.Response:
    url = f"{endpoints.base}/{name}/run"
    return await endpoints.client.delete(url, params={"client_query_id": query_id})


async def test_a_run_on_another_server_is_cancelled(
    endpoints: EndpointWorld, endpoint_sandbox: Sandbox
) -> None:
    await endpoints.create(SLOW, name="a")
    await endpoints.create("SELECT 1", name="b")
    running = asyncio.ensure_future(endpoints.run("a", client_query_id="q"))
    await _until_running(endpoints)
    _move_to_another_server(endpoints, endpoint_sandbox)

    for name, query_id in (("a", "other"), ("b", "q")):
        assert (await _cancel(endpoints, name, query_id)).status_code == 404
    assert not running.done()
    assert (await _cancel(endpoints, "a", "q")).status_code == 204
    answer = await asyncio.wait_for(running, 60)

    assert (answer.status_code, answer.json()["code"]) == (400, "query_cancelled")
    assert await _requests(endpoints) == []
    assert (await _cancel(endpoints, "a", "q")).status_code == 404


async def test_a_query_on_another_server_is_cancelled(
    endpoints: EndpointWorld, endpoint_sandbox: Sandbox
) -> None:
    url = f"/api/projects/{endpoints.project_id}/query/"
    node = {"kind": "HogQLQuery", "query": SLOW.replace("cityHash64", "sipHash64")}
    body = {"query": node, "client_query_id": "q", "refresh": "blocking"}
    running = asyncio.ensure_future(endpoints.client.post(url, json=body))
    await _until_running(endpoints, "sipHash64")
    _move_to_another_server(endpoints, endpoint_sandbox)

    assert (await endpoints.client.delete(f"{url}q/")).status_code in {200, 204}
    answer = await asyncio.wait_for(running, 60)

    assert (answer.status_code, answer.json()["code"]) == (400, "query_cancelled")
    assert (await endpoints.client.delete(f"{url}q/")).status_code == 404


async def test_requests_of_a_killed_server_expire(endpoints: EndpointWorld) -> None:
    world = endpoints.world
    requests = CancelRequests(world.database, world.clock)
    key = (uuid4(), "q")
    row = CancelRequestRow(
        id=uuid4(), owner_id=key[0], query_id=key[1], requested_at=world.clock.now()
    )
    async with world.database.write() as session:
        session.add(row)
    assert await requests.find({key}) == [(row.id, key)]
    assert await requests.find({(uuid4(), "q")}) == []
    world.clock.advance(seconds=120)
    assert await requests.find({key}) == []
    assert await requests.ask((uuid4(), "other")) is False
    assert await _requests(endpoints) == []


async def test_one_server_on_sqlite_asks_nobody(sqlite_database: Database) -> None:
    requests = CancelRequests(sqlite_database, SystemClock())
    assert not requests.is_shared
    assert await requests.ask((uuid4(), "q")) is False
