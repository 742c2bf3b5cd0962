"""From capture to delivery on a real server, on SQLite and PostgreSQL."""

import time
from pathlib import Path

import pytest

from support.receiver import Receiver
from support.seeds import thinned
from support.server import TOKEN, RunningServer
from support.waiting import wait_for

FUNCTIONS = "/api/projects/1/hog_functions/"


@pytest.mark.parametrize("kind", thinned(["sqlite", "postgres"], 2))
def test_an_event_is_delivered_once_with_its_person(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
):
    settings = {}
    if kind == "postgres":
        settings = {"database_url": request.getfixturevalue("postgres_url")}
    receiver = Receiver()
    server = RunningServer(tmp_path / "data", **settings).start()
    try:
        expected = [{"key": "plan", "value": "pro", "operator": "exact", "type": "person"}]
        destination = {
            "type": "destination",
            "name": "deliver",
            "enabled": True,
            "hog": f"fetch(f'{receiver.url}/{{event.uuid}}', {{'method': 'POST'}})",
            "filters": {"events": [{"id": "go", "type": "events"}], "properties": expected},
        }
        server.client.post(FUNCTIONS, json=destination).raise_for_status()
        uuids = [f"0193e8c6-0000-7000-8000-{number:012}" for number in range(30)]
        for _ in range(2):  # a client that did not see the first answer sends again
            batch = [
                {
                    "event": "go",
                    "distinct_id": f"u{index % 3}",
                    "uuid": uuid,
                    "properties": {"$set": {"plan": "pro" if index % 3 else "free"}},
                }
                for index, uuid in enumerate(uuids)
            ]
            body = {"api_key": TOKEN, "batch": batch}
            server.client.post("/batch/", json=body).raise_for_status()
        wait_for(lambda: len(receiver.arrivals) >= 20)
        time.sleep(1)  # a delivery too many would come now

        assert {index for index, uuid in enumerate(uuids) if uuid in receiver.arrivals} == {
            index for index in range(30) if index % 3
        }
        assert {len(ids) for ids in receiver.arrivals.values()} == {1}
    finally:
        server.stop()
        receiver.close()
