"""A backlog of large events: everything is stored and delivered."""

import time
import uuid
from pathlib import Path

import httpx
import pytest

from support.receiver import Receiver
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.slow

FUNCTIONS = "/api/projects/1/hog_functions/"


@pytest.mark.slow
def test_a_backlog_of_large_events_is_stored_and_delivered(tmp_path: Path):
    """400 requests of one event of 300 KB wait when the pipeline comes up; two functions match."""
    receiver = Receiver()
    server = RunningServer(tmp_path / "data", roles="api").start()
    try:
        sent = [str(uuid.uuid4()) for _ in range(400)]
        for each in sent:
            event = {"event": "big", "distinct_id": each[:2], "uuid": each,
                     "properties": {"text": "x" * 300_000}}  # fmt: skip
            answer = httpx.post(
                f"{server.url}/batch/", json={"api_key": TOKEN, "batch": [event]}, timeout=60
            )
            answer.raise_for_status()
        for name in ("first", "second"):
            deliver = f"fetch(f'{receiver.url}/{name}-{{event.uuid}}', {{'method': 'POST'}})"
            body = {"type": "destination", "name": name, "enabled": True, "hog": deliver,
                    "filters": {"events": [{"id": "big", "type": "events"}]}}  # fmt: skip
            server.client.post(FUNCTIONS, json=body).raise_for_status()
        server.stop()
        server.environment.pop("HOGLET_ROLES")
        server.start()

        deadline = time.monotonic() + 300
        while len(receiver.arrivals) < 800 and time.monotonic() < deadline:
            time.sleep(0.5)
        due = {f"{name}-{each}" for each in sent for name in ("first", "second")}
        assert due - receiver.arrivals.keys() == set()
        query = {"kind": "HogQLQuery", "query": "SELECT toString(uuid) FROM events LIMIT 1000"}
        endpoint = {"name": "stored", "query": query}
        server.client.post("/api/projects/1/endpoints/", json=endpoint).raise_for_status()
        answer = server.client.post("/api/projects/1/endpoints/stored/run", json={})
        assert sorted(row[0] for row in answer.json()["results"]) == sorted(sent)
        assert "worker process died" not in server.log()
        assert server.client.get("/_readyz").status_code == 200
    finally:
        server.stop()
        receiver.close()
