"""kill -9 of a server at each step of long work in the warehouse, beside a second server.

One builds the table of a materialized endpoint, or adds a column for a property, and dies; the
other one answers queries all the time, always correctly, and finishes the work.
"""

import contextlib
import itertools
import threading
import time
import uuid
from collections.abc import Generator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import clickhouse_connect
import httpx
import pytest

from support.dying_server import BUILD_STEPS, COLUMN_STEPS
from support.mortal_server import DyingServer
from support.server import TOKEN
from support.waiting import pauses, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.long]  # a quarter of an hour on a busy machine

SECONDS = 120
ATTEMPTS = 20  # until a server has come to a step; the other one may be faster
DAYS = 5  # as many buckets, of which a build computes one again
EVENTS_A_DAY = 40
FIRST_DAY = datetime(2026, 1, 5, 12, tzinfo=UTC)
_ENDPOINTS = "/api/projects/1/endpoints/"
_DAILY = (
    "SELECT toStartOfDay(timestamp) AS day, count() AS n FROM events "
    "WHERE event = 'e' GROUP BY day ORDER BY day"
)
_BY_PLAN = (
    "SELECT properties.plan{number} AS plan, count() AS n FROM events "
    "WHERE event = 'e' GROUP BY plan ORDER BY plan"
)

type Pair = tuple[DyingServer, DyingServer]


@pytest.fixture
def pair(tmp_path: Path, shared: dict[str, Any]) -> Generator[Pair]:
    """The server that dies, not started, and the one that does not."""
    mortal, other = (DyingServer(tmp_path / name, **shared) for name in ("mortal", "other"))
    other.start_until()
    try:
        yield mortal, other
    finally:
        for server in (mortal, other):
            if server.process is not None:
                server.kill()


def _send(server: DyingServer, days: Sequence[int], count: int = 1) -> None:
    batch = [
        {"event": "e", "distinct_id": "d", "uuid": str(uuid.uuid4()),
         "timestamp": (FIRST_DAY + timedelta(days=day)).isoformat(),
         "properties": {f"plan{each}": ("free", "pro")[number % 2] for each in range(4)}}
        for number in range(count)
        for day in days
    ]  # fmt: skip
    body = {"api_key": TOKEN, "batch": batch, "historical_migration": True}
    httpx.post(server.url + "/batch/", json=body, timeout=60).raise_for_status()


def _query(server: DyingServer, sql: str) -> list[list[Any]]:
    body = {"query": {"kind": "HogQLQuery", "query": sql}, "refresh": "force_blocking"}
    answer = server.client.post("/api/projects/1/query/", json=body)
    return answer.raise_for_status().json()["results"]


def _wait_for_events(server: DyingServer, count: int) -> list[list[Any]]:
    def stored(rows: list[list[Any]]) -> bool:
        return sum(row[1] for row in rows) == count

    return wait_for(lambda: _query(server, _DAILY), stored, SECONDS)


class Reader:
    """Runs an endpoint all the time; all answers must be among those that are allowed."""

    def __init__(self, server: DyingServer) -> None:
        self.allowed: list[list[list[Any]]] = []
        self.wrong: list[Any] = []
        self.count = 0
        self._server = server
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stopping.set()
        self._thread.join(SECONDS)

    def _run(self) -> None:
        while not self._stopping.is_set():
            for refresh in ("blocking", "force", "direct"):
                body = {"refresh": refresh}
                answer = self._server.client.post(_ENDPOINTS + "daily/run", json=body)
                if answer.status_code != 200 or answer.json()["results"] not in self.allowed:
                    self.wrong.append((refresh, answer.status_code, answer.text[:500]))
                self.count += 1
            time.sleep(0.1)


def _status(server: DyingServer) -> dict[str, Any]:
    return server.client.get(_ENDPOINTS + "daily/materialization_status").json()


def _run_table(server: DyingServer) -> list[list[Any]] | None:
    """The rows of the table; None if the run does not read it."""
    run = server.client.post(_ENDPOINTS + "daily/run", json={"refresh": "force"})
    answer = run.raise_for_status().json()
    return answer["results"] if answer.get("endpoint_materialized") else None


def _is_dead(server: DyingServer) -> bool:
    assert server.process is not None
    return server.process.poll() is not None


def _build(server: DyingServer, number: int) -> bool:
    """Schedule a build at once; whether the server lives long enough to answer."""
    frequency = ("1hour", "6hour")[number % 2]
    changes = {"is_materialized": True, "sync_frequency": frequency}
    try:
        server.client.patch(_ENDPOINTS + "daily", json=changes).raise_for_status()
    except httpx.TransportError:
        return False
    return True


class Build:
    """A materialized endpoint with events, whose builds on one of the servers are killed."""

    def __init__(self, pair: Pair, reader: Reader) -> None:
        self._mortal, self._other = pair
        self._reader = reader
        self._events = DAYS
        _send(self._other, range(DAYS))
        self.rows = _wait_for_events(self._other, DAYS)
        reader.allowed.append(self.rows)
        body = {"name": "daily", "query": {"kind": "HogQLQuery", "query": _DAILY}}
        answer = self._other.client.post(_ENDPOINTS, json=body | {"is_materialized": True})
        answer.raise_for_status()
        self.wait_for_table()

    def wait_for_table(self) -> None:
        """Wait until the table has the current rows; earlier ones are wrong from then on."""
        wait_for(lambda: _run_table(self._other) == self.rows, seconds=SECONDS)
        self._reader.allowed[:] = [self.rows]

    def kill_at(self, step: str) -> None:
        """Have the table built again until the server dies at a step."""
        self._mortal.start_until(step, call=1)
        is_scheduled = False
        for number in range(ATTEMPTS):
            self._add_event()
            is_scheduled = _build(self._mortal, number)
            with contextlib.suppress(AssertionError):
                wait_for(lambda: _is_dead(self._mortal), seconds=10)
                break
        assert _is_dead(self._mortal), step
        if not is_scheduled:  # it dropped an earlier table
            _build(self._other, ATTEMPTS)

    def _add_event(self) -> None:
        *former, (last, count) = self.rows
        self._events += 1
        self._reader.allowed.append([*former, [last, count + 1]])
        _send(self._other, [DAYS - 1])
        self.rows = _wait_for_events(self._other, self._events)


def test_a_server_that_builds_a_table_dies(pair: Pair, shared: dict[str, Any]) -> None:
    mortal, other = pair
    reader = Reader(other)
    build = Build(pair, reader)
    with reader:
        for step in BUILD_STEPS:
            build.kill_at(step)
            build.wait_for_table()
            assert _status(other)["status"] == "Completed", step
            assert reader.wrong == [], step
        assert reader.count > 20
    mortal.start_until()
    builds = other.client.get(_ENDPOINTS + "daily/materialization_builds?limit=100").json()
    assert {each["status"] for each in builds["results"]} <= {"Completed", "Cancelled"}
    wait_for(lambda: _tables(shared["warehouse_url"]), lambda tables: len(tables) == 1, SECONDS)
    assert _run_table(other) == build.rows


def _tables(warehouse_url: str) -> list[str]:
    """The tables of builds in the warehouse."""
    parts = urlsplit(warehouse_url)
    client = clickhouse_connect.get_client(
        host=parts.hostname or "", port=parts.port or 0, database=parts.path.strip("/")
    )
    try:
        tables = client.query("SHOW TABLES LIKE 'endpoint_table_%'")
        return [row[0] for row in tables.result_rows]
    finally:
        client.close()


def test_a_server_that_adds_a_column_dies(pair: Pair) -> None:
    """Queries read a property from JSON or from its column, with the same result."""
    mortal, other = pair
    _send(other, range(DAYS), count=EVENTS_A_DAY)
    _wait_for_events(other, EVENTS_A_DAY * DAYS)
    half = EVENTS_A_DAY * DAYS // 2
    rows = [["free", half], ["pro", half]]
    queries = [_BY_PLAN.format(number=number) for number in range(len(COLUMN_STEPS))]
    for step, query in zip(COLUMN_STEPS, queries, strict=True):
        mortal.start_until(step, call=1)
        for _ in pauses(SECONDS):
            if _is_dead(mortal):
                break
            with contextlib.suppress(httpx.TransportError):
                assert _query(mortal, query) == rows
        assert _is_dead(mortal), step
        assert _query(other, query) == rows, step
    mortal.start_until()
    for _ in pauses(SECONDS):
        for server, query in itertools.product(pair, queries):
            assert _query(server, query) == rows
        if _columns(mortal) == len(queries):
            break
    assert _columns(mortal) == len(queries)


def _columns(server: DyingServer) -> int:
    """The number of properties that a server reads from columns of their own."""
    metrics = httpx.get(server.url + "/metrics").text
    return int(float(metrics.split("\nhoglet_property_columns ")[1].split()[0]))
