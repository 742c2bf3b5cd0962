"""An endless function delays neither the API, nor capture, nor other functions."""

import time
from pathlib import Path

import pytest

from support.receiver import Receiver
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.slow

FUNCTIONS = "/api/projects/1/hog_functions/"


def _destination(name: str, hog: str) -> dict[str, object]:
    return {
        "type": "destination",
        "name": name,
        "enabled": True,
        "hog": hog,
        "filters": {"events": [{"id": "go", "type": "events"}]},
    }


def test_an_endless_function_delays_nobody(tmp_path: Path):
    receiver = Receiver()
    server = RunningServer(tmp_path / "data").start()
    try:
        deliver = f"fetch(f'{receiver.url}/{{event.uuid}}', {{'method': 'POST'}})"
        for destination in (
            _destination("endless", "while (true) {}"),
            _destination("deliver", deliver),
        ):
            server.client.post(FUNCTIONS, json=destination).raise_for_status()
        batch = [{"event": "go", "distinct_id": f"u{number}"} for number in range(300)]
        body = {"api_key": TOKEN, "batch": batch}
        server.client.post("/batch/", json=body).raise_for_status()

        waits: list[float] = []
        began = time.monotonic()
        while len(receiver.arrivals) < 300 and time.monotonic() - began < 120:
            asked = time.monotonic()
            server.client.get(FUNCTIONS).raise_for_status()
            waits.append(time.monotonic() - asked)
            time.sleep(0.05)

        # 300 endless runs are 165 s of one worker; the deliveries must not stand behind them
        assert len(receiver.arrivals) == 300
        assert sorted(waits)[len(waits) // 2] < 3
    finally:
        server.stop()
        receiver.close()
