"""A deleted person's data is removed from every store."""

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from hoglet.events.spool import SpooledV1, job_of
from hoglet.kit.clock import SystemClock, new_id
from hoglet.queue.sql import SqlQueue
from hoglet.queue.tables import JobRow
from hoglet.store.database import Database
from support.local_http import Handler, LocalHttp
from support.server import TOKEN, RunningServer
from support.waiting import wait_for

SECRET, OTHER = "ZQX7secretOfAnn", "ZQX7secretOfBob"
BASE = "/api/projects/1"
_FIND = """
import asyncio, json, sys
from hoglet.warehouse import open_warehouse

async def find(url, texts):
    warehouse = await open_warehouse(url)
    tables = await warehouse.query("SELECT name FROM system.tables WHERE database = "
        "currentDatabase() AND engine LIKE '%MergeTree'")
    found = {text: [] for text in texts}
    for (table,) in tables.rows:
        await warehouse.command(f"OPTIMIZE TABLE `{table}` FINAL")
        for text in texts:
            rows = await warehouse.query(
                f"SELECT count() FROM `{table}` WHERE position(toString(tuple(*)), "
                "{text:String}) > 0", {"text": text})
            if rows.rows[0][0]:
                found[text].append(table)
    await warehouse.close()
    return found

print(json.dumps(asyncio.run(find(sys.argv[1], sys.argv[2:]))))
"""


class Unavailable(LocalHttp):
    """A receiver that always answers that it is unavailable."""

    def __init__(self) -> None:
        self.count = 0
        receiver = self

        class Refused(Handler):
            def handle_any(self) -> None:
                self.body()
                receiver.count += 1
                self.answer(503)

        super().__init__(Refused)


@pytest.fixture
def receiver() -> Generator[Unavailable]:
    opened = Unavailable()
    yield opened
    opened.close()


@pytest.fixture
def server(tmp_path: Path) -> Generator[RunningServer]:
    running = RunningServer(tmp_path / "data").start()
    yield running
    running.kill()


def test_nothing_of_a_deleted_person_is_left(server: RunningServer, receiver: Unavailable) -> None:
    client = server.client
    failing = _make_functions(client, receiver.url)
    _capture(client, ("ann", SECRET), ("bob", OTHER))
    wait_for(lambda: _rows(client, "select count() from events"), lambda rows: rows == [[2]])
    person = _person(client, "ann")
    _store_answers(client)
    wait_for(lambda: receiver.count, lambda count: count >= 6)
    printed = "select count() from log_entries where match(message, 'secretOf(Ann|Bob)')"
    wait_for(lambda: _rows(client, printed), lambda rows: rows == [[2]])
    asyncio.run(_dead_letter_batches(server.data_dir))
    wait_for(
        lambda: _dead_lettered_ids(client, failing),
        lambda distinct_ids: distinct_ids == ["ann", "bob"],
    )
    assert {"jobs", "ordered_runs", "query_runs", "endpoint_runs"} <= set(
        _found_in_database(server.data_dir, SECRET)
    )

    deleted = client.delete(f"{BASE}/persons/{person}/", params={"delete_events": "true"})
    assert deleted.status_code == 202
    wait_for(
        lambda: client.get(f"{BASE}/persons/deletion_status/?status=completed").json()["count"],
        lambda count: count == 1,
    )

    assert _rows(client, "select distinct_id from events") == [["bob"]]
    assert client.get(f"{BASE}/query/kept/").status_code == 404
    assert _dead_lettered_ids(client, failing) == ["bob"]
    _materialize_anew(client)
    assert server.stop() == 0
    _compact(server.data_dir)
    assert _found_in_database(server.data_dir, SECRET) == []
    assert {"jobs", "persons"} <= set(_found_in_database(server.data_dir, OTHER))
    for path in server.data_dir.glob("hoglet.db*"):
        assert SECRET.encode() not in path.read_bytes(), path
    assert SECRET not in server.log()
    in_warehouse = _found_in_warehouse(server.data_dir)
    for table in in_warehouse[SECRET]:  # replaced by a newer build, and about to be dropped
        assert table.startswith("endpoint_table_")
        assert _found_in_database(server.data_dir, table) == ["jobs"]
    assert {"events", "persons", "log_entries"} < set(in_warehouse[OTHER])


def _make_functions(client: httpx.Client, url: str) -> str:
    """Make functions whose runs wait, are queued, and fail; returns the id of the last one."""
    function_id = ""
    retry = {"max_attempts": 10, "max_elapsed_seconds": 3600}
    for name, more in {
        "prints": {"hog": "print(event.properties)"},
        "waits": {"hog": f"fetch('{url}', {{'method': 'POST', 'body': event}})", "retry": retry},
        "stands in line": {
            "hog": f"fetch('{url}', {{'method': 'POST', 'body': event}})",
            "retry": retry,
            "delivery": {"ordered_by": "distinct_id"},
        },
        "fails": {"hog": "throw Error('no')"},
    }.items():
        body = {"type": "destination", "name": name, "enabled": True, **more}
        answer = client.post(f"{BASE}/hog_functions/", json=body)
        assert answer.status_code == 201, answer.text
        function_id = answer.json()["id"]
    return function_id


def _dead_lettered_ids(client: httpx.Client, function_id: str) -> list[str]:
    answer = client.get(f"{BASE}/hog_functions/{function_id}/dead_letters").json()
    return sorted(letter["distinct_id"] for letter in answer["results"])


def _capture(client: httpx.Client, *cards: tuple[str, str]) -> None:
    batch = [
        {
            "event": "buy",
            "distinct_id": distinct_id,
            "properties": {"card": secret, "$set": {"name": secret}},
        }
        for distinct_id, secret in cards
    ]
    client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()


def _rows(client: httpx.Client, query: str) -> Any:
    node = {"kind": "HogQLQuery", "query": query}
    body = {"query": node, "refresh": "force_blocking"}
    return client.post(f"{BASE}/query/", json=body).json()["results"]


def _person(client: httpx.Client, distinct_id: str) -> str:
    """The person's id; persons are committed a moment after their events can be queried."""
    path = f"{BASE}/persons/?distinct_id={distinct_id}"
    persons = wait_for(lambda: client.get(path).json()["results"], bool)
    return persons[0]["uuid"]


def _store_answers(client: httpx.Client) -> None:
    """A background query, a background run and a table, all with the person's values."""
    node = {"kind": "HogQLQuery", "query": "select event, properties.card from events"}
    body = {"query": node, "refresh": "force_async", "client_query_id": "kept"}
    client.post(f"{BASE}/query/", json=body).raise_for_status()
    wait_for(lambda: client.get(f"{BASE}/query/kept/").status_code, lambda status: status == 200)
    saved = {"name": "cards", "query": node, "is_materialized": True}
    client.post(f"{BASE}/endpoints/", json=saved).raise_for_status()
    _ready(client)
    run = f"{BASE}/endpoints/cards/run"
    asked = {"refresh": "force_async", "client_query_id": "kept"}
    client.post(run, json=asked).raise_for_status()
    wait_for(
        lambda: client.get(f"{run}?client_query_id=kept").status_code,
        lambda status: status == 200,
    )


def _ready(client: httpx.Client) -> None:
    status = f"{BASE}/endpoints/cards/materialization_status"
    wait_for(
        lambda: client.get(status).json(),
        lambda status: status["status"] == "Completed" and status["last_materialized_at"],
    )


def _materialize_anew(client: httpx.Client) -> None:
    path = f"{BASE}/endpoints/cards/"
    for expected in (False, True):
        client.patch(path, json={"is_materialized": expected}).raise_for_status()
    _ready(client)


async def _dead_letter_batches(data_dir: Path) -> None:
    """Batches that could not be stored: one of both people, one of the deleted person alone."""
    database, clock = Database(f"sqlite+aiosqlite:///{data_dir}/hoglet.db"), SystemClock()
    queue = SqlQueue(database, clock)
    both = [
        {"event": "lost", "distinct_id": "bob", "properties": {"card": OTHER}},
        {"event": "lost", "distinct_id": "ann", "properties": {"card": SECRET}},
    ]
    for events in (both, both[1:]):
        body = json.dumps({"batch": events}).encode()
        spooled = SpooledV1(project_id=1, received_at=clock.now(), ip=None, body=body)
        job = job_of(spooled, events=len(events))
        async with database.write() as session:
            session.add(
                JobRow(
                    id=new_id(),
                    queue=job.queue,
                    priority=int(job.priority),
                    run_at=clock.now(),
                    enqueued_at=clock.now(),
                    ordering_key=job.ordering_key,
                    weight=job.weight,
                    lane=None,
                    attempts=3,
                    retries=3,
                    group_id=uuid4(),
                    leased_until=None,
                    lease=None,
                    lease_owner=None,
                    buried_at=clock.now(),
                    error="made for the test",
                    payload=job.payload,
                )
            )
    assert (await queue.depth(job.queue)).failed == 2
    await database.close()


def _compact(data_dir: Path) -> None:
    """Drop the free pages of the file, which still hold deleted rows."""
    with sqlite3.connect(data_dir / "hoglet.db") as connection:
        connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _found_in_database(data_dir: Path, text: str) -> list[str]:
    """The tables with a row that holds the text."""
    connection = sqlite3.connect(data_dir / "hoglet.db", timeout=30)
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    tables: list[str] = []
    for (name,) in names:
        rows = connection.execute(f'SELECT * FROM "{name}"')
        if any(_holds(value, text) for row in rows for value in row):
            tables.append(name)
    connection.close()
    return tables


def _holds(value: Any, text: str) -> bool:
    if isinstance(value, bytes):
        return text.encode() in value
    return isinstance(value, str) and text in value


def _found_in_warehouse(data_dir: Path) -> dict[str, list[str]]:
    url = f"chdb://{data_dir.absolute()}/warehouse"
    command = [sys.executable, "-c", _FIND, url, SECRET, OTHER]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
