"""Readiness checks when accepted data cannot be stored or delivered."""

import sqlite3
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from hoglet.cli.main import app
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.slow

FUNCTIONS = "/api/projects/1/hog_functions/"


@pytest.fixture
def server(tmp_path: Path) -> Generator[RunningServer]:
    started = RunningServer(tmp_path / "data")
    yield started
    started.stop()


def _ready(server: RunningServer) -> tuple[int, dict[str, Any]]:
    answer = httpx.get(f"{server.url}/_readyz", timeout=30)
    return answer.status_code, answer.json()


def _status(server: RunningServer) -> tuple[int, str]:
    ran = CliRunner().invoke(app, ["status", "--url", server.url])
    return ran.exit_code, ran.output


def _capture(server: RunningServer, *events: dict[str, Any]) -> None:
    body = {"api_key": TOKEN, "batch": list(events)}
    httpx.post(f"{server.url}/batch/", json=body, timeout=30).raise_for_status()


def _metric(server: RunningServer, name: str) -> float:
    text = httpx.get(f"{server.url}/metrics", timeout=30).text
    return sum(
        float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(name)
    )


def test_a_server_that_works_is_ready_without_warnings(server: RunningServer):
    server.start()

    status, body = _ready(server)
    assert status == 200
    assert body["checks"] == dict.fromkeys(
        ("storage", "warehouse", "queue", "disk", "pipeline"), "ok"
    )
    assert body["warnings"] == []
    assert _status(server)[0] == 0
    assert _metric(server, "hoglet_disk_free_bytes ") > 0
    assert _metric(server, "hoglet_writes_failing{") == 0


def test_too_little_free_space_is_not_ready(server: RunningServer):
    server.environment["HOGLET_FREE_DISK_BYTES"] = str(9 * 10**15)
    server.start()

    status, body = _ready(server)
    assert (status, body["status"]) == (503, "unavailable")
    assert body["checks"]["disk"].endswith("less than the 9000000000 MB of HOGLET_FREE_DISK_BYTES")
    assert body["checks"]["storage"] == "ok"
    code, output = _status(server)
    assert code == 1
    assert "HOGLET_FREE_DISK_BYTES" in output.replace("\n", " ")


def test_a_failed_request_is_not_ready_until_it_is_queued_again(server: RunningServer):
    server.environment["HOGLET_ROLES"] = "api"
    server.start()
    _capture(server, {"event": "e", "distinct_id": "u"})
    with sqlite3.connect(server.data_dir / "hoglet.db", timeout=30) as database:
        database.execute("UPDATE jobs SET buried_at = run_at, error = 'too much'")
    time.sleep(2.1)  # counts are remembered that long

    status, body = _ready(server)
    assert status == 503
    assert body["checks"]["queue"].startswith("1 captured requests cannot be stored")
    code, output = _status(server)
    assert code == 1
    assert "hoglet admin queues retry spool" in output.replace("\n", " ")
    retried = CliRunner().invoke(
        app, ["admin", "queues", "retry", "spool", "--data-dir", str(server.data_dir)]
    )
    assert retried.output.strip() == "1 queued again"
    time.sleep(2.1)
    assert _ready(server)[0] == 200


def test_a_function_that_keeps_killing_workers_is_seen_and_costs_only_its_events(
    server: RunningServer,
):
    server.environment["HOGLET_PIPELINE_SECONDS"] = "0.45"
    server.start()
    program = "if (event.properties.slow) { while (true) {} } return event"
    slow = {"type": "transformation", "name": "slow", "enabled": True, "hog": program}
    server.client.post(FUNCTIONS, json=slow).raise_for_status()
    printing = {
        "type": "destination", "name": "print", "enabled": True, "hog": "print(event.uuid)",
        "filters": {"events": [{"id": "e", "type": "events"}]},
    }  # fmt: skip
    created = server.client.post(FUNCTIONS, json=printing).json()
    events = [
        {"event": "e", "distinct_id": f"u{number}", "properties": {"slow": number == 3}}
        for number in range(9)
    ]
    _capture(server, *events)

    deadline = time.monotonic() + 60
    totals: dict[str, int] = {}
    while totals.get("succeeded", 0) < 8 or "dead_lettered" not in totals:
        assert time.monotonic() < deadline, (totals, server.log()[-2000:])
        path = f"{FUNCTIONS}{created['id']}/metrics/totals?breakdown_by=name"
        totals = server.client.get(path).json()["totals"]
        time.sleep(0.3)
    assert (totals["succeeded"], totals["dead_lettered"]) == (8, 1)
    query = {"kind": "HogQLQuery", "query": "SELECT count() FROM events"}
    server.client.post("/api/projects/1/endpoints/", json={"name": "n", "query": query})
    ran = server.client.post("/api/projects/1/endpoints/n/run", json={}).json()
    assert ran["results"] == [[9]]
    assert _metric(server, 'hoglet_worker_deaths_total{how="timed_out",workers="pipeline"}') >= 3
    status, body = _ready(server)
    assert status == 200
    assert "1 dead letters can be redriven" in body["warnings"]
    assert any("pipeline workers died within 5 minutes" in warning for warning in body["warnings"])
    code, output = _status(server)
    assert code == 0
    assert "pipeline workers died" in output
