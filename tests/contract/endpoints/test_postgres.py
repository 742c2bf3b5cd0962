"""Endpoints on PostgreSQL, with truly concurrent requests."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any

import pytest
import pytest_asyncio

from hoglet.endpoints.materialization import builder
from hoglet.sandbox import Sandbox
from hoglet.warehouse import ClickHouseWarehouse
from support.endpoints import EndpointWorld, open_endpoints

SINCE = "SELECT count() AS n FROM events WHERE timestamp >= {variables.since}"


@pytest_asyncio.fixture
async def on_postgres(
    postgres_tables_url: str,
    warehouse: ClickHouseWarehouse,
    endpoint_sandbox: Sandbox,
    fresh_project_id: int,
) -> AsyncGenerator[EndpointWorld]:
    async with open_endpoints(
        postgres_tables_url, warehouse, endpoint_sandbox, fresh_project_id
    ) as opened:
        yield opened


async def test_side_by_side(
    postgres_tables_url: str,
    warehouse: ClickHouseWarehouse,
    endpoint_sandbox: Sandbox,
    fresh_project_id: int,
) -> None:
    async with open_endpoints(
        postgres_tables_url, warehouse, endpoint_sandbox, fresh_project_id
    ) as endpoints:
        body = endpoints.body(name="a")
        created = await asyncio.gather(*(endpoints.post("", body) for _ in range(5)))
        assert sorted(each.status_code for each in created) == [201, 400, 400, 400, 400]
        queries = [{"kind": "HogQLQuery", "query": f"SELECT {n}"} for n in range(10, 15)]
        patched = await asyncio.gather(
            *(endpoints.patch("/a", {"query": query}) for query in queries)
        )
        assert [each.status_code for each in patched] == [200] * 5
        versions = (await endpoints.get("/a/versions")).json()["results"]
        assert [each["version"] for each in versions] == [6, 5, 4, 3, 2, 1]
        await endpoints.patch("/a", {"is_materialized": True})
        await endpoints.run("a", refresh="force_async", client_query_id="q")
        await endpoints.services.jobs.drain()
        assert (await endpoints.ran("a"))["endpoint_materialized"] is True
        assert (await endpoints.get("/a/run", client_query_id="q")).status_code == 200
        assert (await endpoints.get("/a")).json()["last_executed_at"] is not None
        await endpoints.services.jobs.housekeeping.clean_up()
        deleted = await asyncio.gather(
            *(endpoints.client.delete(endpoints.base + "/a") for _ in range(3))
        )
        assert sorted(each.status_code for each in deleted) == [204, 404, 404]


async def builds(endpoints: EndpointWorld) -> list[dict[str, Any]]:
    listed = await endpoints.get("/a/materialization_builds")
    return listed.json()["results"]


async def test_a_change_at_the_end_of_a_build_is_built(
    on_postgres: EndpointWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change comes between reading and writing the row of the table, as from another server."""
    await on_postgres.add_variable("since", "Date", "2026-01-01")
    times = [datetime(2026, 1, 4, hour, tzinfo=UTC) for hour in (12, 14)]
    await on_postgres.add_events([("a", at, "u1", "{}") for at in times])
    await on_postgres.create(SINCE, name="a", is_materialized=True)
    changes: list[asyncio.Task[Any]] = []
    end_build = builder.end_build

    async def after_a_change(*args: Any) -> None:
        if not changes:
            body = {"bucket_overrides": {"timestamp": "hour"}}
            changes.append(asyncio.create_task(on_postgres.patch("/a", body)))
            await asyncio.wait(changes, timeout=1)
        await end_build(*args)

    monkeypatch.setattr(builder, "end_build", after_a_change)
    await on_postgres.services.jobs.drain()
    assert [(await change).status_code for change in changes] == [200]
    await on_postgres.services.jobs.drain()

    assert [build["status"] for build in await builds(on_postgres)] == ["Completed"] * 2
    answer = await on_postgres.ran("a", variables={"since": "2026-01-04T13:00:00"})
    assert (answer["endpoint_materialized"], answer["results"]) == (True, [[1]])


async def test_a_build_that_another_server_took_over_stays_completed(
    on_postgres: EndpointWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    await on_postgres.create("SELECT count() AS n FROM events", name="a", is_materialized=True)
    world = on_postgres.world
    create = on_postgres.warehouse.create_table

    async def taken_over(*args: Any, **more: Any) -> None:
        monkeypatch.undo()
        world.clock.advance(seconds=3600)
        await on_postgres.services.jobs.drain()
        await create(*args, **more)

    monkeypatch.setattr(on_postgres.warehouse, "create_table", taken_over)
    await on_postgres.services.jobs.drain()

    assert [build["status"] for build in await builds(on_postgres)] == ["Completed"]
    assert (await on_postgres.ran("a"))["endpoint_materialized"] is True


async def test_a_build_that_is_superseded_while_it_waits_to_be_retried_ends(
    on_postgres: EndpointWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    await on_postgres.create("SELECT count() AS n FROM events", name="a", is_materialized=True)

    async def broken(*_args: object, **_more: object) -> None:
        raise RuntimeError("a bug of ours")

    with monkeypatch.context() as patched:
        patched.setattr(on_postgres.warehouse, "create_table", broken)
        await on_postgres.services.jobs.drain()
    await on_postgres.patch("/a", {"is_materialized": False})
    on_postgres.world.clock.advance(seconds=60)
    await on_postgres.services.jobs.drain()

    assert [build["status"] for build in await builds(on_postgres)] == ["Cancelled"]
