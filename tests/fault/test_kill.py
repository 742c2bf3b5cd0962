"""kill -9 of a real server at random moments, during capture and delivery.

What must hold afterwards (docs: "What a 200 means"): every event of a batch answered 200 is in the
warehouse exactly once; every delivery that is due has arrived, each under one stable id.
"""

import contextlib
import itertools
import random
import threading
import time
import uuid
from collections import Counter
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from hoglet.cli.main import app
from support.receiver import Receiver
from support.server import TOKEN, RunningServer
from support.waiting import pauses, wait_for

EVENTS_PER_BATCH = 20
QUERY = "SELECT toString(uuid), count() FROM events GROUP BY 1 LIMIT 50000"
WORKERS = 2
SECONDS = 180  # until everything is stored and delivered


class Sender:
    """Sends batches as fast as they are answered; remembers which were answered 200.

    Every other batch belongs to another project, from which nothing is delivered.
    """

    def __init__(self, url: str, other_token: str) -> None:
        self.url = url
        self._tokens = itertools.cycle((TOKEN, other_token))
        self.answered: set[str] = set()
        self.sent: set[str] = set()
        self.due: set[str] = set()
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(2)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        with httpx.Client(timeout=5) as client:
            while not self._stopping.is_set():
                self._send(client)
                time.sleep(0.05)

    def _send(self, client: httpx.Client) -> None:
        uuids = [str(uuid.uuid4()) for _ in range(EVENTS_PER_BATCH)]
        self.sent.update(uuids)
        token = next(self._tokens)
        batch = [
            {"event": "deliver" if index % 5 == 0 else "store", "distinct_id": f"u{index}",
             "uuid": event_uuid, "properties": {"due": index % 5 == 0}}
            for index, event_uuid in enumerate(uuids)
        ]  # fmt: skip
        try:
            answer = client.post(self.url + "/batch/", json={"api_key": token, "batch": batch})
        except httpx.TransportError:
            return
        if answer.status_code == 200:
            self.answered.update(uuids)
            if token == TOKEN:
                self.due.update(
                    event_uuid for index, event_uuid in enumerate(uuids) if index % 5 == 0
                )


def _set_up(server: RunningServer, receiver: Receiver) -> None:
    destination = {
        "type": "destination",
        "name": "deliver",
        "enabled": True,
        "hog": f"fetch(f'{receiver.url}/{{event.uuid}}', {{'method': 'POST'}})",
        "filters": {"events": [{"id": "deliver", "type": "events"}]},
    }
    server.client.post("/api/projects/1/hog_functions/", json=destination).raise_for_status()


def _other_project(server: RunningServer) -> tuple[int, str]:
    """A second project: its id and token."""
    result = CliRunner().invoke(
        app, ["admin", "projects", "create", "Other"], env=dict(server.environment)
    )
    assert result.exit_code == 0, result.output
    project, token = result.stdout.split()
    return int(project), token


def _stored(server: RunningServer, *projects: int) -> Counter[str]:
    stored: Counter[str] = Counter()
    for project in projects:
        query = {"query": {"kind": "HogQLQuery", "query": QUERY}, "refresh": "force_blocking"}
        answer = server.client.post(f"/api/projects/{project}/query/", json=query)
        answer.raise_for_status()
        stored.update({row[0]: row[1] for row in answer.json()["results"]})
    return stored


def _account(server: RunningServer) -> dict[str, object]:
    """What the function reports about itself; for the message of a failed test."""
    functions = "/api/projects/1/hog_functions/"
    response = server.client.get(functions).json()["results"][0]
    totals = server.client.get(
        f"{functions}{response['id']}/metrics/totals?breakdown_by=name"
    ).json()
    letters = server.client.get(f"{functions}{response['id']}/dead_letters?limit=3").json()
    return {"status": response["status"], "totals": totals, "letters": letters}


@pytest.mark.parametrize(
    "kills", [1, pytest.param(3, marks=pytest.mark.slow), pytest.param(20, marks=pytest.mark.long)]
)
def test_nothing_accepted_is_lost_or_doubled(tmp_path: Path, receiver: Receiver, kills: int):
    server = RunningServer(tmp_path / "data", pipeline_workers=str(WORKERS)).start()
    _set_up(server, receiver)
    other, other_token = _other_project(server)
    sender = Sender(server.url, other_token)
    sender.start()
    chance = random.Random(kills)  # noqa: S311 (instants, not secrets)
    for _ in range(kills):
        time.sleep(chance.uniform(0.3, 2.0))
        server.kill()
        server.start()
    wait_for(
        lambda: len(sender.answered), fits=lambda number: number > 100 * kills / 3, seconds=SECONDS
    )
    sender.stop()

    stored: Counter[str] = Counter()
    for _ in pauses(SECONDS):
        with contextlib.suppress(httpx.HTTPError):  # a busy machine may not answer in time
            stored = _stored(server, 1, other)
        if sender.answered <= stored.keys() and sender.due <= receiver.arrivals.keys():
            break
    account = _account(server)
    status = server.stop()

    assert sender.answered - stored.keys() == set(), server.log()[-3000:]
    assert {event_uuid for event_uuid, number in stored.items() if number > 1} == set()
    assert stored.keys() <= sender.sent
    assert sender.due - receiver.arrivals.keys() == set(), account
    assert {
        event_uuid for event_uuid, ids in receiver.arrivals.items() if len(set(ids)) > 1
    } == set()
    assert status == 0
