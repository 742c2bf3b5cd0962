"""Refresh modes, background runs, limits, values and errors of runs.

Source: docs/spec/query-endpoints.md#5-run-rows-8-9.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from hoglet.access.rate_limit import RateLimit
from hoglet.endpoints.settings import EndpointSettings
from hoglet.sandbox import Sandbox
from hoglet.warehouse import ClickHouseWarehouse
from support.endpoints import EndpointWorld, open_endpoints

SLOW = "SELECT count() FROM numbers(100000000000) WHERE sipHash64(number) = 5"
BODY_KEYS = [
    "results",
    "cache_target_age",
    "clickhouse",
    "columns",
    "error",
    "hasMore",
    "is_cached",
    "last_refresh",
    "limit",
    "metadata",
    "next_allowed_client_refresh",
    "offset",
    "query",
    "query_metadata",
    "query_status",
    "timezone",
    "types",
    "name",
    "execution_id",
    "endpoint_version",
    "endpoint_version_created_at",
]
DEBUG_KEYS = {
    "calculation_trigger",
    "cache_key",
    "explain",
    "modifiers",
    "resolved_date_range",
    "timings",
    "hogql",
}


async def test_the_body_has_exactly_these_keys(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT 1 AS one", name="a")
    plain = await endpoints.ran("a")
    debug = await endpoints.ran("a", debug=True)

    assert list(plain) == BODY_KEYS
    assert set(debug) - set(plain) == DEBUG_KEYS
    assert plain["types"] == [["one", "UInt8"]]
    assert plain["endpoint_version_created_at"] == "2026-01-05T12:00:00+00:00"
    assert plain["query"] == "SELECT 1 AS one"
    assert plain["execution_id"] != debug["execution_id"]


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("toDateTime('2026-01-05 12:00:00', 'UTC')", "2026-01-05T12:00:00Z"),
        ("toDateTime64('2026-01-05 12:00:00.5', 6, 'UTC')", "2026-01-05T12:00:00.500000Z"),
        ("toDate('2026-01-05')", "2026-01-05"),
        ("18446744073709551615", 18446744073709551615),
        ("NULL", None),
        ("0 / 0", None),
        ("1 / 0", None),
        ("[1, 2]", [1, 2]),
        ("tuple(1, 'a')", [1, "a"]),
        ("map('a', 1)", {"a": 1}),
        ("true", True),
        ("toUUID('0199c7b2-0000-7000-8000-000000000001')", "0199c7b2-0000-7000-8000-000000000001"),
        ("'é☃'", "é☃"),
        ("1.5", 1.5),
    ],
)
async def test_values_in_json(endpoints: EndpointWorld, sql: str, value: Any) -> None:
    await endpoints.create(f"SELECT {sql} AS x", name="a")
    assert (await endpoints.ran("a"))["results"] == [[value]]


async def test_refresh_modes(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT count() FROM events", name="a", cache_age_seconds=300)

    async def status(word: str) -> tuple[int, object]:
        response = await endpoints.run("a", refresh=word)
        return response.status_code, response.json().get("is_cached")

    assert await status("force_cache") == (200, False)
    assert await status("force_cache") == (200, True)
    assert await status("cache") == (200, True)
    assert await status("async") == (200, True)
    assert await status("force") == (200, False)
    assert await status("force_blocking") == (200, False)
    assert await status("direct") == (400, None)
    assert await status("force_async") == (202, None)
    assert await status("nonsense") == (400, None)
    endpoints.world.clock.advance(seconds=400)
    assert await status("lazy_async") == (200, True)
    assert await status("async") == (202, None)
    stale = await endpoints.ran("a", refresh="async_except_on_cache_miss")
    assert stale["is_cached"] is True
    assert stale["query_status"]["complete"] is False
    assert await status("force_cache") == (200, True)
    endpoints.world.clock.advance(seconds=400)
    assert await status("lazy_async") == (202, None)
    assert await status("blocking") == (200, False)
    assert await status("async_except_on_cache_miss") == (200, True)


async def test_a_failed_background_run_tells_its_error(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT intDiv(1, count()) FROM events", name="a")
    blocking = await endpoints.run("a")
    assert blocking.status_code == 400
    await endpoints.run("a", refresh="async", client_query_id="q")
    again = await endpoints.run("a", refresh="force_async", client_query_id="q")
    assert again.status_code == 202
    assert await endpoints.services.jobs.drain() == 1
    polled = await endpoints.get("/a/run", client_query_id="q")
    assert (polled.status_code, polled.json()) == (400, blocking.json())
    endpoints.world.clock.advance(seconds=3601)
    assert (await endpoints.get("/a/run", client_query_id="q")).status_code == 404


async def test_get_reads_the_query_string_and_a_body(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT number FROM numbers(10)", name="a")
    page = (await endpoints.get("/a/run", limit="2", offset="3", refresh="force")).json()
    assert (page["results"], page["limit"], page["offset"]) == ([[3], [4]], 2, 3)
    body = await endpoints.client.request("GET", endpoints.base + "/a/run/", json={"limit": 1})
    assert body.json()["results"] == [[0]]
    for name, value in (("limit", "x"), ("offset", "y"), ("limit", "0"), ("limit", "50001")):
        refused = await endpoints.get("/a/run", **{name: value})
        assert (refused.status_code, refused.json()["attr"]) == (400, name)
    bad = await endpoints.get("/a/run", refresh="soon")
    assert (bad.json()["attr"], bad.json()["code"]) == ("refresh", "invalid_choice")


async def test_bodies_are_closed(endpoints: EndpointWorld) -> None:
    await endpoints.create(name="a")
    for body in ({}, {"variables": None, "refresh": None, "limit": None}):
        assert (await endpoints.run("a", **body)).status_code == 200
    empty = await endpoints.client.post(endpoints.base + "/a/run", content=b"")
    assert empty.status_code == 200
    unknown = await endpoints.run("a", nonsense=1)
    assert (unknown.status_code, unknown.json()["attr"]) == (400, "nonsense")
    broken = await endpoints.client.post(endpoints.base + "/a/run", content=b"{")
    assert (broken.json()["type"], broken.json()["code"]) == ("invalid_request", "parse_error")
    missing = await endpoints.client.post(endpoints.base + "/nope/run", content=b"{")
    assert missing.status_code == 404


async def test_errors_of_the_engine(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT intDiv(1, count()) FROM events", name="a")
    refused = await endpoints.run("a")
    body = refused.json()

    assert (refused.status_code, body["type"], body["attr"]) == (400, "validation_error", None)
    assert body["code"] == "invalid_input"
    assert "zero" in body["detail"]
    assert "SELECT" not in body["detail"]


async def test_logs_tell_every_run(endpoints: EndpointWorld) -> None:
    clock = endpoints.world.clock
    clock.at = datetime.now(UTC)  # logs expire
    await endpoints.create("SELECT 1", name="a")
    first = await endpoints.ran("a")
    clock.advance(seconds=1)
    await endpoints.ran("a")
    log = (await endpoints.get("/a/logs")).json()

    assert log["count"] == 2
    assert ["cache hit" in line["message"] for line in log["results"]] == [True, False]
    assert all("inline" in line["message"] for line in log["results"])
    assert log["results"][1]["instance_id"] == first["execution_id"]
    assert log["results"][1]["level"] == "INFO"
    assert (await endpoints.get("/a/logs", level="error")).json()["count"] == 0
    assert (await endpoints.get("/a/logs", search="CACHE HIT")).json()["count"] == 1
    assert (await endpoints.get("/a/logs", instance_id="x")).json()["count"] == 0
    assert (await endpoints.get("/a/logs", limit=1)).json()["count"] == 1
    too_many = await endpoints.get("/a/logs", limit=501)
    assert (too_many.json()["attr"], too_many.json()["code"]) == ("limit", "max_value")
    await endpoints.create("SELECT count(1) FROM query_log", name="b")
    assert (await endpoints.ran("b"))["results"] == [[2]]


async def test_rate_limits_are_of_one_key(
    tmp_path: Any, warehouse: ClickHouseWarehouse, endpoint_sandbox: Sandbox, fresh_project_id: int
) -> None:
    settings = EndpointSettings(runs=RateLimit(per_minute=2))
    async with open_endpoints(
        tmp_path, warehouse, endpoint_sandbox, fresh_project_id, settings
    ) as endpoints:
        await endpoints.create(name="a")
        statuses = [(await endpoints.run("a")).status_code for _ in range(3)]
        assert statuses == [200, 200, 429]
        refused = await endpoints.run("a")
        assert refused.json()["code"] == "throttled"
        assert int(refused.headers["retry-after"]) > 0
        other = await endpoints.world.add_key(["endpoint:write"])
        headers = {"Authorization": f"Bearer {other}"}
        allowed = await endpoints.client.get(endpoints.base + "/a/run", headers=headers)
        assert allowed.status_code == 200


async def test_tables_and_secret_keys_have_buckets_of_their_own(
    tmp_path: Any, warehouse: ClickHouseWarehouse, endpoint_sandbox: Sandbox, fresh_project_id: int
) -> None:
    settings = EndpointSettings(
        runs=RateLimit(per_minute=1), materialized_runs=RateLimit(per_minute=2)
    )
    async with open_endpoints(
        tmp_path, warehouse, endpoint_sandbox, fresh_project_id, settings
    ) as endpoints:
        await endpoints.create(name="a")
        await endpoints.create("SELECT 2", name="table", is_materialized=True)
        await endpoints.services.jobs.drain()
        assert [(await endpoints.run("a")).status_code for _ in range(2)] == [200, 429]
        statuses = [(await endpoints.run("table")).status_code for _ in range(3)]
        assert statuses == [200, 200, 429]
        statuses = []
        for _ in range(2):
            key = await endpoints.world.add_secret_key(endpoints.project_id)
            headers = {"Authorization": f"Bearer {key}"}
            answer = await endpoints.client.get(endpoints.base + "/a/run", headers=headers)
            statuses.append(answer.status_code)
        assert statuses == [200, 429]


async def test_time_and_slots_are_limited(
    tmp_path: Any, warehouse: ClickHouseWarehouse, endpoint_sandbox: Sandbox, fresh_project_id: int
) -> None:
    settings = EndpointSettings(concurrent_queries=1, queue_seconds=0.2, run_seconds=1)
    async with open_endpoints(
        tmp_path, warehouse, endpoint_sandbox, fresh_project_id, settings
    ) as endpoints:
        await endpoints.create(SLOW, name="slow")
        await endpoints.create("SELECT 1", name="quick")
        first, second = await asyncio.gather(
            endpoints.run("slow"), _later(0.3, endpoints.run("quick"))
        )
        assert (first.status_code, first.json()["type"], first.json()["code"]) == (
            400,
            "server_error",
            "query_timeout",
        )
        assert "materializ" in first.json()["detail"]
        assert (second.status_code, second.json()["code"]) == (429, "throttled")
        assert "concurrent" in second.json()["detail"]
        assert "retry-after" in second.headers
        assert (await endpoints.run("quick")).status_code == 200


async def _later(seconds: float, response: Any) -> httpx.Response:
    await asyncio.sleep(seconds)
    return await response


async def test_equal_runs_at_once_are_computed_once(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT generateUUIDv4() AS id", name="a")
    answers = await asyncio.gather(*(endpoints.ran("a") for _ in range(10)))

    assert len({str(answer["results"]) for answer in answers}) == 1
    assert len({answer["execution_id"] for answer in answers}) == 10


@pytest.mark.parametrize("refresh", ["blocking", "force_blocking"])
async def test_a_client_that_leaves_cancels_its_query(
    endpoints: EndpointWorld, refresh: str
) -> None:
    # Another function than in the test before, whose query may still be ending.
    await endpoints.create(SLOW.replace("sipHash64", "metroHash64"), name="slow")
    for times in (1, 2):  # the second run is known
        assert await _left_run(endpoints, refresh) == 499
        logged = (await endpoints.get("/slow/logs")).json()["results"]
        sql = f"SELECT count() FROM query_log WHERE project_id = {endpoints.project_id}"
        rows = (await endpoints.warehouse.query(sql)).rows[0][0]
        lines = [(line["level"], "disconnected" in line["message"]) for line in logged]
        assert (rows, lines) == (times, [("ERROR", True)] * times)


async def _left_run(endpoints: EndpointWorld, refresh: str) -> int:
    """The status of a run whose client leaves while the engine computes."""
    gone = asyncio.Event()
    sent = False
    answered: list[Any] = []
    body = b'{"refresh": "%s"}' % refresh.encode()

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if not sent:
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        answered.append(message)

    headers = [(k.lower().encode(), v.encode()) for k, v in endpoints.world.headers.items()]
    scope = {
        "type": "http",
        "method": "POST",
        "path": endpoints.base + "/slow/run",
        "raw_path": b"",
        "query_string": b"",
        "headers": headers,
        "scheme": "http",
        "server": ("h", 80),
        "client": ("1.1.1.1", 1),
        "root_path": "",
        "http_version": "1.1",
    }
    running = asyncio.ensure_future(endpoints.app(scope, receive, send))
    await _wait_for_queries(endpoints, is_running=True)
    gone.set()
    await asyncio.wait_for(running, 60)
    await _wait_for_queries(endpoints, is_running=False)
    return answered[0]["status"]


async def _wait_for_queries(endpoints: EndpointWorld, *, is_running: bool) -> None:
    """Wait until the slow query runs in the engine, or no longer does."""
    for _ in range(600):
        queries = await endpoints.warehouse.query(
            "SELECT count() FROM system.processes WHERE position(query, 'metroHash64') > 0 "
            "AND position(query, 'system.processes') = 0"
        )
        if (queries.rows[0][0] > 0) == is_running:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"the query {'does not run' if is_running else 'still runs'}")


async def test_equal_runs_at_once_are_one_computation(endpoints: EndpointWorld) -> None:
    await endpoints.create("SELECT sum(cityHash64(number)) FROM numbers(30000000)", name="a")

    answers = await asyncio.gather(*(endpoints.run("a") for _ in range(8)))

    assert {answer.json()["results"][0][0] for answer in answers} != {None}
    assert [answer.json()["is_cached"] for answer in answers].count(False) == 1
    read = [int(answer.headers["Hoglet-Rows-Read"]) for answer in answers]
    assert sorted(read) == [0] * 7 + [30_000_000]
