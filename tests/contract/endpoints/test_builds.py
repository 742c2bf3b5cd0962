"""The list of an endpoint's builds (docs/spec/query-endpoints.md#78-builds)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from support.endpoints import EndpointWorld

AT = datetime(2026, 1, 4, 12, tzinfo=UTC)
DAILY = "SELECT toStartOfDay(timestamp) AS day, count() AS n FROM events GROUP BY day"


async def builds(endpoints: EndpointWorld, name: str, **query: Any) -> list[dict[str, Any]]:
    path = f"{endpoints.base}/{name}/materialization_builds"
    answer = await endpoints.client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


async def test_builds_are_listed_newest_first(endpoints: EndpointWorld) -> None:
    await endpoints.add_events([("a", AT, "u1", "{}")])
    await endpoints.create(DAILY, name="a")
    assert await builds(endpoints, "a") == []
    await endpoints.patch("/a", {"is_materialized": True, "sync_frequency": "1hour"})
    await endpoints.services.jobs.drain()
    endpoints.world.clock.advance(seconds=3700)
    await endpoints.services.jobs.drain()
    await endpoints.add_events([("b", AT, "u1", "{}")])
    endpoints.world.clock.advance(seconds=3700)
    await endpoints.services.jobs.drain()

    listed = await builds(endpoints, "a")
    assert [each["is_unchanged"] for each in listed] == [False, True, False]
    assert {(each["status"], each["error"], each["version"]) for each in listed} == {
        ("Completed", "", 1)
    }
    assert [each["started_at"] for each in listed] == sorted(
        (each["started_at"] for each in listed), reverse=True
    )
    assert all(each["ended_at"] >= each["started_at"] for each in listed)
    assert [each["id"] for each in await builds(endpoints, "a", limit=1, offset=1)] == [
        listed[1]["id"]
    ]


async def test_failed_builds_say_why_and_outlive_the_table(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT intDiv(1, count()) AS x FROM events", name="a")
    await endpoints.patch("/a", {"is_materialized": True})
    await endpoints.services.jobs.drain()
    await endpoints.patch("/a", {"is_materialized": False})
    (build,) = await builds(endpoints, "a")
    assert (build["status"], build["is_unchanged"]) == ("Failed", False)
    assert build["error"]


async def test_a_build_that_is_tried_again_is_one_entry(
    endpoints: EndpointWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    await endpoints.create(DAILY, name="a", is_materialized=True)

    async def broken(*_args: object, **_more: object) -> None:
        raise RuntimeError("a bug of ours")

    with monkeypatch.context() as patched:
        patched.setattr(endpoints.warehouse, "create_table", broken)
        await endpoints.services.jobs.drain()
        (build,) = await builds(endpoints, "a")
        assert (build["status"], build["ended_at"]) == ("Running", None)
    endpoints.world.clock.advance(seconds=60)
    await endpoints.services.jobs.drain()
    (again,) = await builds(endpoints, "a")
    assert (again["id"], again["status"]) == (build["id"], "Completed")
    assert again["started_at"] > build["started_at"]


async def test_a_superseded_build_is_cancelled(
    endpoints: EndpointWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    await endpoints.create(DAILY, name="a", is_materialized=True)
    create = endpoints.warehouse.create_table

    async def meanwhile(*args: Any, **more: Any) -> None:
        patched.undo()
        await endpoints.patch("/a", {"is_materialized": False})
        await create(*args, **more)

    patched = monkeypatch
    patched.setattr(endpoints.warehouse, "create_table", meanwhile)
    await endpoints.services.jobs.drain()
    (build,) = await builds(endpoints, "a")
    assert build["status"] == "Cancelled"
    assert build["ended_at"]


async def test_builds_of_a_version_and_of_long_ago(endpoints: EndpointWorld) -> None:
    await endpoints.create(DAILY, name="a", is_materialized=True)
    await endpoints.services.jobs.drain()
    query = {"kind": "HogQLQuery", "query": f"{DAILY} ORDER BY day"}
    await endpoints.patch("/a", {"query": query})
    await endpoints.services.jobs.drain()
    assert [each["version"] for each in await builds(endpoints, "a")] == [2, 1]
    assert [each["version"] for each in await builds(endpoints, "a", version=1)] == [1]
    path = f"{endpoints.base}/a/materialization_builds"
    missing = await endpoints.client.get(path, params={"version": 9})
    assert missing.status_code == 404
    assert (await endpoints.get("/none/materialization_builds")).status_code == 404

    endpoints.world.clock.advance(seconds=31 * 86_400)
    await endpoints.services.jobs.housekeeping.clean_up()
    assert await builds(endpoints, "a") == []
