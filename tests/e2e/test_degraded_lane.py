"""A degraded function runs after all healthy ones.

Source: docs/spec/hog-functions.md#7-status-and-the-watcher.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography.fernet import Fernet

from hoglet.functions.jobs import INVOKE_QUEUE
from support.local_http import Handler, LocalHttp
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.slow

FUNCTIONS = "/api/projects/1/hog_functions/"
RUNS = 40  # of each function


class _Arrivals(LocalHttp):
    """A web server that records the requested paths in order."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        arrivals = self.paths

        class Noted(Handler):
            def handle_any(self) -> None:
                self.body()
                arrivals.append(self.path)
                self.answer(200)

        super().__init__(Noted)


def _until(condition: Callable[[], Any], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.2)


def _function(server: RunningServer, url: str, event: str) -> str:
    body = {
        "type": "destination",
        "enabled": True,
        "hog": f"if (event.properties.broken) {{ throw Error('broken') }} fetch('{url}')",
        "filters": {"events": [{"id": event, "type": "events"}]},
    }
    return server.client.post(FUNCTIONS, json=body).json()["id"]


def _send(server: RunningServer, *names: str, broken: bool = False) -> None:
    properties = {"broken": broken}
    batch = [{"event": name, "distinct_id": "ada", "properties": properties} for name in names]
    body = {"api_key": TOKEN, "batch": batch}
    assert server.client.post("/batch/", json=body).status_code == 200


def _totals(server: RunningServer, function_id: str) -> dict[str, int]:
    path = f"{FUNCTIONS}{function_id}/metrics/totals?breakdown_by=name"
    return server.client.get(path).json()["totals"]


def test_runs_of_a_degraded_function_wait_behind_those_of_healthy_ones(
    tmp_path: Path, postgres_url: str
) -> None:
    shared: dict[str, Any] = {
        "database_url": postgres_url,
        "secret_keys": Fernet.generate_key().decode(),
        "watcher": '{"degrade_least_runs": 4}',
    }
    arrivals = _Arrivals()
    front = RunningServer(tmp_path / "front", roles="api,pipeline,console", **shared).start()
    executor = RunningServer(tmp_path / "executor", roles="executor", **shared).start()
    try:
        sick = _function(front, arrivals.url + "/sick", "sick")
        well = _function(front, arrivals.url + "/well", "well")
        _send(front, *["sick"] * 4, broken=True)
        _until(lambda: front.client.get(FUNCTIONS + sick).json()["status"]["state"] == 2)
        assert front.client.get(FUNCTIONS + sick).json()["enabled"]
        executor.stop()

        _send(front, *["sick"] * RUNS)  # first, so without lanes they would go first
        _until(lambda: _totals(front, sick).get("triggered") == RUNS + 4)
        _send(front, *["well"] * RUNS)
        _until(lambda: _totals(front, well).get("triggered") == RUNS)
        # What is leased at once runs side by side, so the order of leasing is what can be promised.
        assert _leased_in_order(postgres_url) == [well] * RUNS + [sick] * RUNS
        assert arrivals.paths == []
        executor.start()

        _until(lambda: _totals(front, sick).get("succeeded") == RUNS)
        _until(lambda: _totals(front, well).get("succeeded") == RUNS)
        assert sorted(arrivals.paths) == ["/sick"] * RUNS + ["/well"] * RUNS
    finally:
        executor.stop()
        front.stop()
        arrivals.close()


def _leased_in_order(postgres_url: str) -> list[str]:
    """The functions of the waiting runs, as the queue hands them out."""
    order = "SELECT lane FROM jobs WHERE queue = %s ORDER BY priority, run_at, id"
    with psycopg.connect(postgres_url.replace("+psycopg", "")) as connection:
        return [lane for (lane,) in connection.execute(order, [INVOKE_QUEUE]).fetchall()]
