"""Cancelling runs by ``client_query_id``."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx
import msgspec
import pytest
from sqlalchemy import select

from hoglet.endpoints.run.background import RUNS, RunJob
from hoglet.endpoints.tables import AsyncRunRow
from hoglet.queue.sql import SqlQueue
from support.endpoints import EndpointWorld
from support.seeds import seeds

SLOW = "SELECT sum(cityHash64(number)) FROM numbers(20000000000)"


async def cancel_soon(endpoints: EndpointWorld, name: str, query_id: str) -> None:
    """Cancel a run that is about to start."""
    for _ in range(1000):
        if (await cancel(endpoints, name, query_id)).status_code == 204:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never ran")


async def cancel(endpoints: EndpointWorld, name: str, query_id: str) -> httpx.Response:
    url = f"{endpoints.base}/{name}/run"
    return await endpoints.client.delete(url, params={"client_query_id": query_id})


async def test_a_waiting_run_is_cancelled(endpoints: EndpointWorld) -> None:
    await endpoints.create(SLOW, name="a")
    running = asyncio.ensure_future(endpoints.run("a", client_query_id="q"))
    await cancel_soon(endpoints, "a", "q")
    answer = await asyncio.wait_for(running, 30)
    assert (answer.status_code, answer.json()["code"]) == (400, "query_cancelled")
    assert (await cancel(endpoints, "a", "q")).status_code == 404
    assert (await cancel(endpoints, "b", "q")).status_code == 404


async def test_others_who_wait_for_the_same_go_on(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT sum(cityHash64(number)) FROM numbers(300000000)", name="a")
    first = asyncio.ensure_future(endpoints.run("a", client_query_id="q1"))
    second = asyncio.ensure_future(endpoints.run("a", client_query_id="q2"))
    await cancel_soon(endpoints, "a", "q1")
    assert (await first).json()["code"] == "query_cancelled"
    assert (await second).status_code == 200


async def test_a_background_run_is_cancelled(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 1", name="a")
    await endpoints.run("a", refresh="force_async", client_query_id="q")
    assert (await cancel(endpoints, "a", "q")).status_code == 204
    await endpoints.services.jobs.drain()
    ended = await endpoints.get("/a/run", client_query_id="q")
    assert (ended.status_code, ended.json()["code"]) == (400, "query_cancelled")
    await endpoints.run("a", refresh="force_async", client_query_id="q")
    await endpoints.services.jobs.drain()
    assert (await endpoints.get("/a/run", client_query_id="q")).status_code == 200


async def test_the_id_is_required(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 1", name="a")
    answer = await endpoints.client.delete(endpoints.base + "/a/run")
    assert (answer.status_code, answer.json()["attr"]) == (400, "client_query_id")


async def processes(endpoints: EndpointWorld) -> list[str]:
    """The queries that the engine is running, except this one and statements that kill queries."""
    asked = (
        "SELECT query FROM system.processes WHERE query NOT LIKE '%system.processes%' "
        "AND query NOT LIKE '%KILL QUERY%'"
    )
    return [row[0] for row in (await endpoints.warehouse.query(asked)).rows]


async def execution_ids(endpoints: EndpointWorld) -> dict[str, str]:
    async with endpoints.world.database.read() as session:
        rows = (await session.scalars(select(AsyncRunRow))).all()
    return {row.query_id: str(row.execution_id) for row in rows}


@asynccontextmanager
async def working(endpoints: EndpointWorld) -> AsyncGenerator[None]:
    """The consumers of background runs beside the block, as in a server."""
    stopping = asyncio.Event()
    jobs = asyncio.create_task(endpoints.services.jobs.run_until(stopping))
    try:
        yield
    finally:
        stopping.set()
        await asyncio.wait_for(jobs, 60)


@pytest.mark.parametrize("seed", seeds(1, 5))
async def test_nothing_runs_after_a_background_run_is_cancelled(
    endpoints: EndpointWorld, seed: int
) -> None:
    """Cancelled in the queue, before the engine has the query, and while it runs."""
    await endpoints.create(SLOW, name="a")
    chance = random.Random(seed)  # noqa: S311 (instants)
    numbers = [f"q{number}" for number in range(16)]

    async def cancel_one(number: str) -> None:
        await asyncio.sleep(chance.choice([0, 0.001, 0.01, 0.1, 0.5]))
        assert (await cancel(endpoints, "a", number)).status_code == 204
        execution_id = (await execution_ids(endpoints))[number]
        running = await processes(endpoints)
        assert not [query for query in running if execution_id in query]

    async with working(endpoints):
        for limit, number in enumerate(numbers, start=1):  # equal runs would be computed once
            await endpoints.run("a", refresh="force_async", client_query_id=number, limit=limit)
        await asyncio.gather(*map(cancel_one, numbers))
        for number in numbers:
            ended = await endpoints.get("/a/run", client_query_id=number)
            assert (ended.status_code, ended.json()["code"]) == (400, "query_cancelled")
        assert not [query for query in await processes(endpoints) if "cityHash64" in query]


async def test_cancelling_twice_at_once_waits_for_the_same_end(endpoints: EndpointWorld) -> None:
    await endpoints.create(SLOW, name="a")
    async with working(endpoints):
        await endpoints.run("a", refresh="force_async", client_query_id="q")
        while "cityHash64" not in str(await processes(endpoints)):  # noqa: ASYNC110 (the engine's)
            await asyncio.sleep(0.01)
        answers = await asyncio.gather(*(cancel(endpoints, "a", "q") for _ in range(3)))
        assert {answer.status_code for answer in answers} <= {204, 404}
        assert 204 in {answer.status_code for answer in answers}
        assert not [query for query in await processes(endpoints) if "cityHash64" in query]
        assert (await cancel(endpoints, "a", "q")).status_code == 404


async def test_an_id_can_be_used_again_at_once(endpoints: EndpointWorld) -> None:
    """The job of the cancelled run, which still waits, must not do the new one as well."""
    await endpoints.create("SELECT 1", name="a")
    await endpoints.run("a", refresh="force_async", client_query_id="q")
    assert (await cancel(endpoints, "a", "q")).status_code == 204
    await endpoints.run("a", refresh="force_async", client_query_id="q")
    await endpoints.services.jobs.drain()
    assert (await endpoints.get("/a/run", client_query_id="q")).status_code == 200
    await endpoints.services.query_log.flush()
    asked = "SELECT count() FROM query_log WHERE project_id = {p:Int64} AND status = 'QueryFinish'"
    count = await endpoints.warehouse.query(asked, {"p": endpoints.project_id})
    assert count.rows[0][0] == 1


async def test_a_job_that_fails_after_its_run_was_cancelled_changes_nothing(
    endpoints: EndpointWorld,
) -> None:
    await endpoints.create("SELECT 1", name="a")
    await endpoints.run("a", refresh="force_async", client_query_id="q")
    queue = SqlQueue(endpoints.world.database, endpoints.world.clock, owner="another")
    (job,) = await queue.lease(RUNS, limit=1, duration=timedelta(minutes=1))
    run = msgspec.json.decode(job.payload, type=RunJob)
    assert (await cancel(endpoints, "a", "q")).status_code == 204
    await endpoints.services.background.give_up(run)
    ended = await endpoints.get("/a/run", client_query_id="q")
    assert (ended.status_code, ended.json()["code"]) == (400, "query_cancelled")

    await endpoints.run("a", refresh="force_async", client_query_id="q")
    await endpoints.services.background.give_up(run)
    assert (await endpoints.get("/a/run", client_query_id="q")).status_code == 202


async def test_a_finished_run_and_a_strangers_are_not_found(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 1", name="a")
    await endpoints.run("a", refresh="force_async", client_query_id="done")
    await endpoints.services.jobs.drain()
    await endpoints.run("a", refresh="force_async", client_query_id="waiting")
    assert (await cancel(endpoints, "a", "done")).status_code == 404
    assert (await endpoints.get("/a/run", client_query_id="done")).status_code == 200

    other = await endpoints.world.add_project()
    url = f"/api/environments/{other.id}/endpoints/a/run"
    answer = await endpoints.client.delete(url, params={"client_query_id": "waiting"})
    assert answer.status_code == 404
    await endpoints.services.jobs.drain()
    assert (await endpoints.get("/a/run", client_query_id="waiting")).status_code == 200


async def test_a_run_that_hoglet_cannot_do_ends(
    endpoints: EndpointWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    await endpoints.create("SELECT 1", name="a")
    await endpoints.run("a", refresh="force_async", client_query_id="q")

    async def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(endpoints.services.runner, "compute", broken)
    for _ in range(3):
        await endpoints.services.jobs.drain()
        endpoints.world.clock.advance(seconds=120)
    ended = await endpoints.get("/a/run", client_query_id="q")
    assert (ended.status_code, ended.json()["type"]) == (500, "server_error")


async def test_a_run_that_is_being_loaded_is_cancelled(endpoints: EndpointWorld) -> None:
    """The job reads its row before the row is ended, and computes after it."""
    await endpoints.create(SLOW, name="a")
    await endpoints.run("a", refresh="force_async", client_query_id="q")
    background = endpoints.services.background
    queue = SqlQueue(endpoints.world.database, endpoints.world.clock, owner="test")
    (job,) = await queue.lease(RUNS, limit=1, duration=timedelta(minutes=1))
    run = msgspec.json.decode(job.payload, type=RunJob)
    async with endpoints.world.database.write():  # both wait for it, the job first
        doing = asyncio.create_task(background.do(run))
        await asyncio.sleep(0.2)
        cancelling = asyncio.create_task(cancel(endpoints, "a", "q"))
        await asyncio.sleep(0.2)
    assert (await cancelling).status_code == 204
    assert "cityHash64" not in str(await processes(endpoints))
    await asyncio.wait_for(doing, 30)  # the query would take a minute
    assert "cityHash64" not in str(await processes(endpoints))


@pytest.mark.parametrize("cancelled", ["before", "after", "never"])
async def test_a_restarted_server_does_only_runs_that_are_not_cancelled(
    endpoints: EndpointWorld, cancelled: str
) -> None:
    """The server is killed while it holds the run's job; the next one releases the lease."""
    await endpoints.create("SELECT 1", name="a")
    await endpoints.run("a", refresh="force_async", client_query_id="q")
    killed = SqlQueue(endpoints.world.database, endpoints.world.clock, owner="killed")
    (job,) = await killed.lease(RUNS, limit=1, duration=timedelta(hours=1))
    if cancelled == "before":
        assert (await cancel(endpoints, "a", "q")).status_code == 204
    restarted = SqlQueue(endpoints.world.database, endpoints.world.clock, owner="killed")
    assert await restarted.reclaim() == 1
    if cancelled == "after":
        assert (await cancel(endpoints, "a", "q")).status_code == 204
    await endpoints.services.jobs.drain()

    ended = await endpoints.get("/a/run", client_query_id="q")
    if cancelled == "never":
        assert (ended.status_code, ended.json()["results"]) == (200, [[1]])
        return
    assert (ended.status_code, ended.json()["code"]) == (400, "query_cancelled")
    assert await restarted.lease(RUNS, limit=1, duration=timedelta(minutes=1)) == []
    assert (await restarted.depth(RUNS)).leased == 0
    run = msgspec.json.decode(job.payload, type=RunJob)
    await endpoints.services.background.do(run)  # a job delivered twice changes nothing either
    assert (await endpoints.get("/a/run", client_query_id="q")).json()["code"] == "query_cancelled"
