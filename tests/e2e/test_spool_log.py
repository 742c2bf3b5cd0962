"""The spool log on PostgreSQL: two servers store the events of one project."""

import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from cryptography.fernet import Fernet

from support.accepted import Accepted
from support.server import TOKEN, RunningServer, started
from support.warehouses import new_clickhouse_database

pytestmark = pytest.mark.slow

_FUNCTIONS = "/api/projects/1/hog_functions/"
SECONDS = 120


@pytest.fixture
def pair(
    tmp_path: Path, postgres_url: str, clickhouse_server: str
) -> Generator[list[RunningServer]]:
    """Two servers on one database and one warehouse; the first one is there before."""
    with new_clickhouse_database(clickhouse_server) as warehouse:
        shared: dict[str, Any] = {
            "database_url": postgres_url,
            "warehouse_url": warehouse,
            "secret_keys": Fernet.generate_key().decode(),
        }
        servers = [RunningServer(tmp_path / name, **shared) for name in ("first", "second")]
        with started(servers):
            yield servers


def _rows(url: str, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        return list(connection.execute(sql.encode()).fetchall())


def _owners(url: str) -> dict[object, int]:
    counts = _rows(url, "SELECT owner, count(*) FROM spool_positions GROUP BY owner")
    return {owner: int(str(number)) for owner, number in counts}


def _wait(what: str, condition: object, seconds: float = SECONDS) -> float:
    """Wait until a condition holds; the seconds it took."""
    assert callable(condition)
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < seconds, what
        time.sleep(0.1)
    return time.monotonic() - started


def _is_divided(url: str) -> bool:
    return sorted(_owners(url).values()) == [8, 8]


def _send(server: RunningServer, *events: dict[str, Any]) -> int:
    body = {"api_key": TOKEN, "batch": list(events)}
    return httpx.post(server.url + "/batch/", json=body, timeout=60).status_code


def _persons(server: RunningServer, distinct_id: str) -> list[dict[str, Any]]:
    response = server.client.get("/api/projects/1/persons/", params={"distinct_id": distinct_id})
    return response.json()["results"]


def test_both_servers_store_one_project_and_take_over(
    pair: list[RunningServer], postgres_url: str
) -> None:
    first, second = pair
    _wait("the partitions are divided", lambda: _is_divided(postgres_url))
    accepted = Accepted(first)
    for number in range(10):
        accepted.server = pair[number % 2]
        assert accepted.send(40) == 200
    accepted.server = first
    accepted.assert_all_there()
    for server in pair:  # each stored some of them
        metrics = httpx.get(server.url + "/metrics").text
        stored = [line for line in metrics.splitlines() if line.startswith("hoglet_events_stored")]
        assert any(float(line.split()[-1]) > 0 for line in stored), stored

    for number in range(5):  # in order for a person, whatever server took the event
        event = {
            "event": "e",
            "distinct_id": "one",
            "properties": {"$set": {"step": number, f"s{number}": True}},
        }
        assert _send(pair[number % 2], event) == 200
    merge = {
        "event": "$identify",
        "distinct_id": "known",
        "properties": {"$anon_distinct_id": "one", "$set": {"merged": True}},
    }
    assert _send(first, merge) == 200
    _wait("the persons are merged", lambda: len(_merged(first)) == 1)
    (person,) = _merged(first)
    assert person["properties"]["step"] == 4

    second.kill()
    assert accepted.send(40) == 200
    accepted.assert_all_there()
    owners = _owners(postgres_url)
    assert list(owners.values()) == [16], owners


def _merged(server: RunningServer) -> list[dict[str, Any]]:
    persons = _persons(server, "one")
    return [each for each in persons if set(each["distinct_ids"]) == {"one", "known"}]


def test_events_that_wait_in_the_log_survive_kills(
    pair: list[RunningServer], postgres_url: str
) -> None:
    first, second = pair
    accepted = Accepted(first)
    for round_ in range(4):
        accepted.server = pair[round_ % 2]
        for _ in range(4):
            accepted.send(50)
        victim = pair[(round_ + 1) % 2]
        victim.kill()
        victim.start()
    accepted.server = first
    accepted.assert_all_there()
    assert accepted.statuses[200] > 0
    _wait(
        "stored entries are forgotten",
        lambda: _rows(postgres_url, "SELECT count(*) FROM spool_entries") == [(0,)],
    )
    assert second.client.get("/_readyz").status_code == 200
