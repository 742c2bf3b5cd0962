"""Limits of the settings reach the parts that they limit."""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from support.server import TOKEN, RunningServer
from support.waiting import wait_for

PROJECT_REQUESTS = 400
DEFINITIONS = 5
LIMITS: dict[str, Any] = {
    "query_cache_bytes": "0",
    "query_result_bytes": "20000",
    "query_memory_bytes": "100000000",
    "query_seconds": "2",
    "query_queue_seconds": "0.1",
    "query_concurrency": "1",
    "request_body_bytes": "50000",
    "definitions_per_project": str(DEFINITIONS),
    "rate_limit_project_burst_per_minute": str(PROJECT_REQUESTS),
}
ENDLESS = "SELECT count() FROM numbers(20000000000) WHERE cityHash64(number) % 7 = {}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    server = RunningServer(tmp_path_factory.mktemp("limits") / "data", **LIMITS).start()
    yield server
    assert server.stop() == 0


def query(server: RunningServer, hogql: str, **more: Any) -> httpx.Response:
    body = {"query": {"kind": "HogQLQuery", "query": hogql}, **more}
    return server.client.post("/api/projects/1/query/", json=body)


def test_a_cache_of_no_bytes_keeps_no_result(server: RunningServer) -> None:
    for _ in range(2):
        assert query(server, "SELECT 1", refresh="blocking").json()["is_cached"] is False


@pytest.mark.parametrize(
    ("hogql", "code"),
    [
        ("SELECT repeat('x', 1000) FROM numbers(50)", "query_too_large"),
        ("SELECT length(groupArray(number)) FROM numbers(60000000)", "query_memory_limit"),
        (ENDLESS.format(0), "query_timeout"),
    ],
)
def test_queries_end_at_their_limits(server: RunningServer, hogql: str, code: str) -> None:
    answer = query(server, hogql)
    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_one_query_at_a_time(server: RunningServer) -> None:
    with ThreadPoolExecutor(4) as clients:
        answers = list(clients.map(lambda number: query(server, ENDLESS.format(number)), range(4)))
    assert sorted({answer.json()["code"] for answer in answers}) == ["query_timeout", "throttled"]


def test_larger_bodies_are_refused(server: RunningServer) -> None:
    event = {"api_key": TOKEN, "event": "x" * 60_000, "distinct_id": "a"}
    answer = server.client.post("/batch/", json=event)
    assert (answer.status_code, answer.json()["code"]) == (413, "request_too_large")


def test_more_events_are_stored_than_are_defined(server: RunningServer) -> None:
    batch = [{"event": f"e{number}", "distinct_id": "a"} for number in range(4 * DEFINITIONS)]
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()

    names = "SELECT uniq(event) FROM events"
    wait_for(lambda: query(server, names).json().get("results") == [[len(batch)]])
    # Definitions come with the commit, a moment after the events can be queried, and all at once.
    wait_for(lambda: defined(server) > 0)
    assert defined(server) == DEFINITIONS


def defined(server: RunningServer) -> int:
    return server.client.get("/api/projects/1/event_definitions/").json()["count"]


def test_requests_of_a_project_are_counted(server: RunningServer) -> None:
    answers = [
        server.client.get("/api/projects/1/hog_functions/?limit=1")
        for _ in range(PROJECT_REQUESTS + 1)
    ]
    assert {200, 429} >= {answer.status_code for answer in answers}
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) <= 60
