"""``hoglet admin warehouse copy``: a server moves from chDB to ClickHouse and loses nothing."""

import asyncio
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from hoglet.warehouse import ClickHouseWarehouse
from support.accepted import Accepted
from support.faults import Start
from support.hoglet_process import run_hoglet
from support.receiver import Receiver
from support.server import RunningServer
from support.waiting import wait_for
from support.warehouses import new_clickhouse_database

pytestmark = pytest.mark.slow

BATCH = 20
ENDPOINTS = "/api/projects/1/endpoints/"
DAILY = "SELECT distinct_id, count() AS number FROM events GROUP BY distinct_id ORDER BY 1"
COUNTED = """SELECT (SELECT count() FROM events), (SELECT count() FROM persons),
(SELECT count(properties.padding) FROM events)"""

TELEMETRY = "SELECT (SELECT sum(count) FROM app_metrics), (SELECT count() FROM log_entries)"

# The engine ignores a block that is equal to one that it has.
EQUAL_ROW = """INSERT INTO app_metrics (project_id, timestamp, metric_kind, metric_name, count)
SETTINGS insert_deduplication_token = '{}' VALUES (1, '2026-01-01 00:00:00', 'a', 'b', 1)"""


@pytest.fixture
def target(clickhouse_server: str) -> Generator[str]:
    with new_clickhouse_database(clickhouse_server) as url:
        yield url


def _copy(target: str, data_dir: Path) -> subprocess.CompletedProcess[str]:
    words = ["admin", "warehouse", "copy", target, "--data-dir", str(data_dir)]
    return run_hoglet(*words, timeout=120)


async def _telemetry(target: str) -> str:
    warehouse = ClickHouseWarehouse(target)
    try:
        (row,) = (await warehouse.query(TELEMETRY)).rows
    finally:
        await warehouse.close()
    return ",".join(map(str, row))


def _counted(server: RunningServer, sql: str = COUNTED) -> list[Any]:
    query = {"query": {"kind": "HogQLQuery", "query": sql}, "refresh": "force_blocking"}
    answer = server.client.post("/api/projects/1/query/", json=query)
    return answer.raise_for_status().json()["results"][0]


def _metrics(server: RunningServer) -> int:
    """Deliveries in the metrics that can be queried; they are written some seconds later."""
    return _counted(server, TELEMETRY)[0]


def _materialized(server: RunningServer) -> dict[str, Any]:
    answer = server.client.post(ENDPOINTS + "daily/run", json={"refresh": "cache"})
    return answer.raise_for_status().json()


def _status(server: RunningServer) -> str:
    return server.client.get(ENDPOINTS + "daily/").json()["materialization"]["status"]


def test_nothing_is_lost_by_moving_to_clickhouse(tmp_path: Path, target: str) -> None:
    receiver = Receiver()
    server = RunningServer(tmp_path / "data").start()
    moved = RunningServer(tmp_path / "data", port=server.port, warehouse_url=target)
    try:
        accepted = Accepted(server, receiver)
        query = {"kind": "HogQLQuery", "query": DAILY}
        body = {"name": "daily", "query": query, "is_materialized": True}
        for _ in range(3):
            assert accepted.send(BATCH) == 200
            accepted.assert_all_there()
        server.client.post(ENDPOINTS, json=body).raise_for_status()
        wait_for(lambda: _status(server), lambda status: status == "Completed")
        wait_for(lambda: _metrics(server), lambda number: number >= 3 * 3 * BATCH)
        counted, rows = _counted(server), _materialized(server)["results"]

        assert "in use by another hoglet server" in _copy(target, server.data_dir).stderr
        server.kill()
        refused = _copy(target, server.data_dir)
        assert refused.returncode == 2
        assert "was killed: start it and stop it" in refused.stderr
        server.start()
        assert server.stop() == 0
        for token in ("first", "second"):
            Start(server.data_dir).warehouse_sql(EQUAL_ROW.format(token))
        copied = _copy(target, server.data_dir)
        assert copied.returncode == 0, copied.stderr
        assert "Start the server with HOGLET_WAREHOUSE_URL" in copied.stdout
        again = _copy(target, server.data_dir)
        assert again.returncode == 1
        assert "The target already has rows" in again.stderr

        # Logs and metrics are written some seconds later, also by the next server.
        telemetry = Start(server.data_dir).warehouse_sql(TELEMETRY)
        assert asyncio.run(_telemetry(target)) == telemetry
        accepted.server = moved.start()
        assert _counted(moved) == counted
        materialized = _materialized(moved)
        assert materialized["results"] == rows
        assert materialized["endpoint_materialized"]
        assert accepted.send(BATCH) == 200
        accepted.assert_all_there()
        assert moved.stop() == 0
        with pytest.raises(AssertionError, match="is not the one"):
            server.start()
    finally:
        for process in (server, moved):
            if process.process is not None and process.process.poll() is None:
                process.stop()
        receiver.close()


def test_the_target_is_a_clickhouse_database(tmp_path: Path) -> None:
    wrong = _copy("http://ch:8123/hoglet", tmp_path)
    missing = _copy("clickhouse://ch:8123/hoglet", tmp_path)

    assert (wrong.returncode, missing.returncode) == (2, 2)
    assert "clickhouse://user:password@host:8123/name" in wrong.stderr
    assert "There is no database" in missing.stderr
