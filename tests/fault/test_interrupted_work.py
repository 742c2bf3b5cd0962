"""kill -9 during long work: migrations, imports, builds, backfills."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from support.accepted import SECONDS, Accepted, add_destination
from support.faults import kill_while_starting
from support.receiver import Receiver
from support.server import RunningServer

pytestmark = pytest.mark.slow

EVENTS = 20_000
_ENDPOINTS = "/api/projects/1/endpoints/"


@pytest.fixture
def events_file(tmp_path: Path) -> Path:
    """Events without uuids, so that a second import has to know them again."""
    path = tmp_path / "events.ndjson"
    now = datetime.now(UTC)
    with path.open("w") as file:
        for number in range(EVENTS):
            at = now - timedelta(seconds=EVENTS - number)
            event = {"event": "imported", "distinct_id": f"u{number % 50}",
                     "timestamp": at.isoformat(), "properties": {"n": number}}  # fmt: skip
            file.write(json.dumps(event) + "\n")
    return path


def start_import(server: RunningServer, file: Path) -> subprocess.Popen[bytes]:
    words = ["-m", "hoglet", "events", "import", "--historical", str(file)]
    return subprocess.Popen(
        [sys.executable, *words], env=server.environment, stdout=subprocess.PIPE
    )


def count(server: RunningServer, what: str = "count()") -> int:
    name = f"count_{uuid.uuid4().hex[:8]}"
    query = {"kind": "HogQLQuery", "query": f"SELECT {what} FROM events WHERE event = 'imported'"}
    server.client.post(_ENDPOINTS, json={"name": name, "query": query}).raise_for_status()
    run = server.client.post(f"{_ENDPOINTS}{name}/run", json={"refresh": "force"})
    return run.raise_for_status().json()["results"][0][0]


def wait_for_events(server: RunningServer) -> None:
    deadline = time.monotonic() + SECONDS
    while (stored := count(server)) < EVENTS and time.monotonic() < deadline:
        time.sleep(0.5)
    assert stored == EVENTS
    assert count(server, "uniq(properties.n)") == EVENTS


def wait_for_types(server: RunningServer, query: dict[str, str]) -> None:
    """The schema of queries is up to two seconds old; then the query runs."""
    body = {"query": query, "refresh": "force_blocking"}
    deadline = time.monotonic() + SECONDS
    while (answer := server.client.post("/api/projects/1/query/", json=body)).is_client_error:
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.5)


def test_a_migration_that_is_killed_starts_over(tmp_path: Path) -> None:
    """Kills spread over the first start, which makes the database, the warehouse and the keys."""
    server = RunningServer(tmp_path / "data")
    server.data_dir.mkdir()
    kill_while_starting(server, times=12, seed=3)
    server.start()
    try:
        accepted = Accepted(server)
        assert accepted.send() == 200
        accepted.assert_all_there()
        assert server.client.get("/api/projects/").json()["count"] == 1
        with sqlite3.connect(server.data_dir / "hoglet.db") as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert database.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,)
    finally:
        assert server.stop() == 0


@pytest.mark.slow
def test_an_import_that_is_killed_is_done_again_without_doubles(
    tmp_path: Path, events_file: Path
) -> None:
    """The import dies, then the server dies while it stores; both begin again."""
    server = RunningServer(tmp_path / "data").start()
    chance = random.Random(5)  # noqa: S311 (instants)
    try:
        for _ in range(3):
            importing = start_import(server, events_file)
            time.sleep(chance.uniform(0.5, 2.5))
            importing.kill()
            importing.communicate()
            server.kill()
            server.start()
        assert start_import(server, events_file).wait(timeout=SECONDS) == 0
        wait_for_events(server)
    finally:
        server.stop()


@pytest.mark.slow
def test_a_table_whose_build_is_killed_is_built_in_the_end(
    tmp_path: Path, events_file: Path
) -> None:
    server = RunningServer(tmp_path / "data").start()
    try:
        assert start_import(server, events_file).wait(timeout=SECONDS) == 0
        wait_for_events(server)
        sql = (
            "SELECT distinct_id, count() AS c, sum(properties.n) AS s FROM events "
            "WHERE event = 'imported' GROUP BY distinct_id ORDER BY distinct_id"
        )
        query = {"kind": "HogQLQuery", "query": sql}
        wait_for_types(server, query)
        body = {"name": "kept", "query": query}
        server.client.post(_ENDPOINTS, json=body).raise_for_status()
        run = f"{_ENDPOINTS}kept/run"
        inline = server.client.get(run).raise_for_status().json()
        assert len(inline["results"]) == 50

        changes = {"is_materialized": True, "sync_frequency": "1hour"}
        server.client.patch(f"{_ENDPOINTS}kept", json=changes).raise_for_status()
        for pause in (0, 0.05, 0.2):
            time.sleep(pause)
            server.kill()
            server.start()
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            answer = server.client.post(run, json={"refresh": "force"}).raise_for_status().json()
            assert answer["results"] == inline["results"]  # from the table or not, at every time
            if answer.get("endpoint_materialized"):
                break
            time.sleep(0.5)
        assert answer["endpoint_materialized"] is True
    finally:
        server.stop()


@pytest.mark.slow
def test_a_backfill_that_is_killed_reaches_every_event(tmp_path: Path, receiver: Receiver) -> None:
    server = RunningServer(tmp_path / "data").start()
    try:
        accepted = Accepted(server)
        for _ in range(40):
            assert accepted.send() == 200
        accepted.assert_all_there()
        function = add_destination(server, f"{receiver.url}/{{event.uuid}}")
        path = f"/api/projects/1/hog_functions/{function}/enable_backfills"
        export = server.client.post(path).raise_for_status().json()["batch_export_id"]
        backfills = f"/api/projects/1/batch_exports/{export}/backfills"
        now = datetime.now(UTC)
        window = {
            "start_at": (now - timedelta(hours=1)).isoformat(),
            "end_at": (now + timedelta(hours=1)).isoformat(),
        }
        created = server.client.post(backfills, json=window).raise_for_status().json()
        for pause in (0.2, 1, 2):
            time.sleep(pause)
            server.kill()
            server.start()
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and not accepted.answered <= set(receiver.arrivals):
            time.sleep(0.5)
        record = server.client.get(f"{backfills}/{created['id']}").json()
        assert accepted.answered - set(receiver.arrivals) == set(), json.dumps(record)
        assert {
            event_uuid for event_uuid, ids in receiver.arrivals.items() if len(set(ids)) > 1
        } == set()
        assert accepted.stored() == dict.fromkeys(accepted.answered, 1)  # none is stored again
    finally:
        server.stop()


def test_a_server_that_is_frozen_goes_on(tmp_path: Path) -> None:
    """SIGSTOP for longer than clients wait, as when a machine is suspended."""
    server = RunningServer(tmp_path / "data").start()
    assert server.process is not None
    try:
        accepted = Accepted(server)
        assert accepted.send() == 200
        os.kill(server.process.pid, signal.SIGSTOP)
        assert accepted.send(timeout=1) == 0
        os.kill(server.process.pid, signal.SIGCONT)
        assert accepted.send() == 200
        accepted.assert_all_there()
    finally:
        assert server.stop() == 0
