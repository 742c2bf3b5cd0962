"""Runs are cancelled by the id their caller gave them (hoglet goes further)."""

import asyncio

import httpx
import pytest

from support.endpoints import EndpointWorld

pytestmark = pytest.mark.asyncio(loop_scope="session")

SLOW = "SELECT sum(cityHash64(number)) FROM numbers(20000000000)"


async def cancel_soon(endpoints: EndpointWorld, name: str, query_id: str) -> None:
    """Cancel a run that is about to start."""
    for _ in range(200):
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
    answer = await asyncio.wait_for(running, 5)
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
    await endpoints.rooms.jobs.work_off()
    ended = await endpoints.get("/a/run", client_query_id="q")
    assert (ended.status_code, ended.json()["code"]) == (400, "query_cancelled")
    await endpoints.run("a", refresh="force_async", client_query_id="q")
    await endpoints.rooms.jobs.work_off()
    assert (await endpoints.get("/a/run", client_query_id="q")).status_code == 200


async def test_the_id_is_required(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 1", name="a")
    answer = await endpoints.client.delete(endpoints.base + "/a/run")
    assert (answer.status_code, answer.json()["attr"]) == (400, "client_query_id")
