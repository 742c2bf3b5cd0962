"""Repeated requests: their cost beside the same endpoint's run, and when they are planned again.

Source: docs/adr/0026-short-endpoint-runs.md.
"""

import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import Any

import httpx
import pytest

from support.queries import QueryWorld

NODE = {"kind": "HogQLQuery", "query": "select 1 as one"}
TIMES = 10

type Send = Callable[[], Awaitable[httpx.Response]]


async def calls_of(send: Send) -> list[Counter[str]]:
    """The calls of hoglet's functions in repeated requests; those of the database excepted."""
    requests: list[Counter[str]] = []
    calls = Counter[str]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        _, separator, name = frame.f_code.co_filename.partition("/src/hoglet/")
        if event == "call" and separator and not name.startswith("store/"):
            calls[frame.f_code.co_qualname] += 1

    for _ in range(TIMES):
        await send()
    sys.setprofile(note)
    try:
        for _ in range(TIMES):
            calls = Counter[str]()
            assert (await send()).status_code == 200
            requests.append(calls)
    finally:
        sys.setprofile(None)
    return requests


@pytest.mark.parametrize("refresh", ["blocking", "force_blocking"])
async def test_a_repeated_query_takes_no_more_calls_than_the_endpoints_run(
    queries: QueryWorld, refresh: str
) -> None:
    name = (await queries.endpoints.create(NODE))["name"]
    # Caches that expire meanwhile take more calls, in some requests.
    of_query = min(await calls_of(lambda: queries.send(NODE, refresh=refresh)), key=Counter.total)
    of_run = min(
        await calls_of(lambda: queries.endpoints.run(name, refresh=refresh)), key=Counter.total
    )
    assert of_query.total() <= of_run.total(), (of_query - of_run).most_common(20)


@pytest.mark.parametrize("refresh", ["blocking", "force_blocking"])
async def test_a_repeated_request_is_planned_once(queries: QueryWorld, refresh: str) -> None:
    name = (await queries.endpoints.create(NODE))["name"]
    of_query = await calls_of(lambda: queries.send(NODE, refresh=refresh))
    of_run = await calls_of(lambda: queries.endpoints.run(name, refresh=refresh))
    assert not any(calls["plan_read"] for calls in [*of_query, *of_run])


async def test_a_changed_default_is_used_at_once(queries: QueryWorld) -> None:
    endpoints = queries.endpoints
    identifier = await endpoints.add_variable("x", "String", "before")
    variables = {identifier: {"variableId": identifier, "code_name": "x"}}
    node = {"kind": "HogQLQuery", "query": "select {variables.x}", "variables": variables}
    endpoints.services.runner.forget()
    for refresh in ("blocking", "force_blocking"):
        assert (await queries.ran(node, refresh=refresh))["results"] == [["before"]]
    await endpoints.client.patch(
        f"/api/projects/{endpoints.project_id}/insight_variables/{identifier}",
        json={"default_value": "after"},
    )
    endpoints.services.runner.forget()
    for refresh in ("blocking", "force_blocking"):
        assert (await queries.ran(node, refresh=refresh))["results"] == [["after"]]


async def test_a_relative_date_moves_with_the_clock(queries: QueryWorld) -> None:
    endpoints = queries.endpoints
    identifier = await endpoints.add_variable("since", "Date", "-1d")
    variables = {identifier: {"variableId": identifier, "code_name": "since"}}
    text = "select toDate({variables.since})"
    node = {"kind": "HogQLQuery", "query": text, "variables": variables}
    endpoints.services.runner.forget()
    days: list[Any] = []
    for _ in range(3):
        days.append((await queries.ran(node, refresh="force_blocking"))["results"][0][0])
        endpoints.world.clock.advance(seconds=86_400)
    assert days == ["2026-01-04", "2026-01-05", "2026-01-06"]


async def test_another_keys_scopes_are_not_those_of_the_first(queries: QueryWorld) -> None:
    endpoints = queries.endpoints
    key = await endpoints.world.add_key(["query:read"])
    body = {
        "query": {"kind": "HogQLQuery", "query": "select name from system.actions"},
        "refresh": "force_blocking",
    }
    for _ in range(2):
        assert (await endpoints.client.post(f"{queries.base}/", json=body)).status_code == 200
    headers = {"Authorization": f"Bearer {key}"}
    denied = await endpoints.client.post(f"{queries.base}/", json=body, headers=headers)
    assert (denied.status_code, denied.json()["code"]) == (400, "table_access_denied")


async def test_a_pinned_version_that_is_switched_off_is_refused_at_once(
    queries: QueryWorld,
) -> None:
    endpoints = queries.endpoints
    name = (await endpoints.create("select 1"))["name"]
    changed = {"query": {"kind": "HogQLQuery", "query": "select 2"}}
    assert (await endpoints.patch(f"/{name}", changed)).status_code == 200
    for refresh in ("blocking", "force_blocking"):
        for _ in range(2):
            assert (await endpoints.ran(name, version=1, refresh=refresh))["results"] == [[1]]
    off = await endpoints.patch(f"/{name}", {"version": 1, "is_active": False})
    assert off.status_code == 200, off.text
    for refresh in ("blocking", "force_blocking"):
        assert (await endpoints.run(name, version=1, refresh=refresh)).status_code == 400
