"""A server in several processes on PostgreSQL, with the embedded warehouse in one of them."""

import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from cryptography.fernet import Fernet

from support.receiver import Receiver
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.slow

FUNCTIONS = "/api/projects/1/hog_functions/"


def _until(condition: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.3)
    return condition()


PATHS = {  # of an executor: what operators need, not the API over a warehouse of its own
    "/_readyz": 200,
    "/metrics": 200,
    "/capture/": 404,
    "/api/projects/1/events/": 404,
}


def test_an_executor_of_its_own_runs_what_the_others_take_in(
    tmp_path: Path, postgres_url: str
) -> None:
    shared = {"database_url": postgres_url, "secret_keys": Fernet.generate_key().decode()}
    receiver = Receiver()
    front = RunningServer(tmp_path / "front", roles="api,pipeline,console", **shared).start()
    executor = RunningServer(tmp_path / "executor", roles="executor", **shared).start()
    try:
        created = front.client.post(
            FUNCTIONS,
            json={
                "type": "destination",
                "enabled": True,
                "hog": f"print(inputs.token)\nfetch(f'{receiver.url}/{{event.uuid}}')",
                "inputs_schema": [{"key": "token", "type": "string", "secret": True}],
                "inputs": {"token": {"value": "sealed by another process"}},
            },
        ).json()
        first, second = str(uuid.uuid4()), str(uuid.uuid4())
        _send(front, first)
        totals = f"{FUNCTIONS}{created['id']}/metrics/totals?breakdown_by=name"

        def succeeded() -> int:
            return front.client.get(totals).json()["totals"].get("succeeded", 0)

        assert _until(lambda: succeeded() == 1), executor.log()[-2000:]  # or it is run again
        statuses = {path: executor.client.get(path).status_code for path in PATHS}
        assert statuses == PATHS
        # Its data folder does not grow, so a full disk is no fault of an executor.
        assert "disk" not in executor.client.get("/_readyz").json()["checks"]
        assert "hoglet_disk_free_bytes" not in executor.client.get("/metrics").text
        assert "hoglet_disk_free_bytes" in front.client.get("/metrics").text
        executor.kill()
        _send(front, second)
        time.sleep(2)
        assert second not in receiver.arrivals  # nobody else runs functions
        executor.start()
        assert _until(lambda: second in receiver.arrivals, 90), executor.log()[-2000:]
        assert _until(lambda: succeeded() == 2)
        delivered = 'hoglet_deliveries_total{outcome="succeeded"} 1.0'
        assert delivered in executor.client.get("/metrics").text  # since it was started again
        lines = front.client.get(f"{FUNCTIONS}{created['id']}/logs").json()["results"]
        assert any("***REDACTED***" in line["message"] for line in lines)
    finally:
        front.stop()
        executor.stop()
        receiver.close()


def _send(server: RunningServer, event: str) -> None:
    batch = [{"event": "paid", "distinct_id": "ada", "uuid": event}]
    httpx.post(server.url + "/batch/", json={"api_key": TOKEN, "batch": batch}, timeout=30)


def test_a_second_embedded_warehouse_on_one_database_is_refused(
    tmp_path: Path, postgres_url: str
) -> None:
    shared = {"database_url": postgres_url, "secret_keys": Fernet.generate_key().decode()}
    first = RunningServer(tmp_path / "first", **shared).start()
    assert first.stop() == 0
    assert "belongs to another" in _refusal(tmp_path / "second", shared)  # also without events
    first.start()
    try:
        _send(first, str(uuid.uuid4()))
        assert _until(lambda: first.client.get("/api/projects/1/events/").json()["results"])
        beside = _refusal(tmp_path / "second", shared)
        assert "Another server on this database writes its embedded warehouse" in beside
    finally:
        first.stop()


def _refusal(folder: Path, settings: dict[str, str]) -> str:
    server = RunningServer(folder, **settings)
    ended = subprocess.run(
        [sys.executable, "-m", "hoglet", "serve", "--port", str(server.port)],
        env=server.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 2
    assert "serves at" not in ended.stdout
    return ended.stderr
