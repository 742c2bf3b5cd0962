"""Functions in endless loops delay neither the API nor other functions."""

import time

import pytest

from hoglet.demo.traffic import Receiver
from support.server import TOKEN, RunningServer

EVENTS = 40
SPINNERS = ("while (true) {}", "while (true) { print('x') }")


@pytest.fixture
def server(tmp_path):
    running = RunningServer(tmp_path).start()
    yield running
    running.kill()


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


def create(server, **fields):
    body = {"type": "destination", "enabled": True, **fields}
    answer = server.client.post("/api/projects/1/hog_functions/", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def failed(server, function_id):
    path = f"/api/projects/1/hog_functions/{function_id}/metrics/totals"
    return server.client.get(path).json()["totals"].get("failure", 0)


@pytest.mark.slow
def test_a_good_function_delivers_all_while_endless_ones_still_run(server, receiver):
    """The endless ones need 40 x 2 x 0.55 s of work; the good one must not wait for that."""
    spinners = [create(server, name="spins", hog=hog) for hog in SPINNERS]
    schema = [{"key": "url", "type": "string"}]
    inputs = {"url": {"value": receiver.url}}
    hog = "fetch(inputs.url, {'body': {'event': event.uuid}})"
    create(server, name="good", hog=hog, inputs_schema=schema, inputs=inputs)
    batch = [{"event": "e", "distinct_id": str(number)} for number in range(EVENTS)]
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch})

    deadline = time.monotonic() + 60
    while len(receiver.deliveries) < EVENTS and time.monotonic() < deadline:
        assert server.client.get("/api/users/@me").status_code == 200
        time.sleep(0.05)

    assert len(receiver.deliveries) == EVENTS
    assert sum(failed(server, spinner) for spinner in spinners) < EVENTS
