"""Internal destinations run on hoglet's own events, end to end."""

import time
from collections.abc import Callable
from pathlib import Path

from support.server import RunningServer

FUNCTIONS = "/api/projects/1/hog_functions/"


def _wait_for(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.2)


def test_a_change_triggers_an_internal_destination(tmp_path: Path):
    server = RunningServer(tmp_path / "data").start()
    try:
        expected = [
            {"key": "detail.name", "value": "watched", "operator": "exact", "type": "event"}
        ]
        watching = {
            "type": "internal_destination",
            "name": "watching",
            "enabled": True,
            "hog": "print(event.event, event.properties.scope)",
            "filters": {
                "events": [{"id": "$activity_log_entry_created", "type": "events"}],
                "properties": expected,
            },
        }
        created = server.client.post(FUNCTIONS, json=watching).json()
        for name in ("watched", "other"):
            body = {"type": "destination", "name": name, "hog": "return 1"}
            server.client.post(FUNCTIONS, json=body).raise_for_status()

        def lines() -> list[str]:
            answer = server.client.get(f"{FUNCTIONS}{created['id']}/logs?level=info").json()
            return [line["message"] for line in answer["results"]]

        _wait_for(lambda: bool(lines()))
        assert lines() == ["$activity_log_entry_created, HogFunction"]
    finally:
        server.stop()
