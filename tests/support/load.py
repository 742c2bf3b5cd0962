"""The delivery flow under load: functions, events and the invariants to check at the end."""

import os
import random
import signal
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from support.flaky_receiver import FlakyReceiver
from support.server import TOKEN, RunningServer

FUNCTIONS = "/api/projects/1/hog_functions/"
BATCH = 250
STORED = "SELECT count(), uniqExact(uuid) FROM events"


class LoadFlow:
    """Sends events that functions deliver to a receiver.

    Args:
        server: a running server.
        receiver: where the matching functions deliver.
        functions: the number of functions.
        matching: the number of functions that events trigger; each event triggers one.
        events: the number of events to send.
    """

    def __init__(
        self,
        server: RunningServer,
        receiver: FlakyReceiver,
        *,
        functions: int,
        matching: int,
        events: int,
    ) -> None:
        self.server = server
        self.receiver = receiver
        self.matching = matching
        self.uuids = [str(uuid.UUID(int=number + 1)) for number in range(events)]
        self.ids: dict[str, str] = {}
        self._set_up(functions)

    def _set_up(self, functions: int) -> None:
        deliver = f"fetch(f'{self.receiver.url}/{{source.name}}/{{event.uuid}}', {{'body': event}})"
        for number in range(functions):
            waits_for = f"event {number % self.matching}" if number % 2 else f"never {number}"
            event = f"event {number}" if number < self.matching else waits_for
            kind = "matching" if number < self.matching else "other"
            function = {
                "type": "destination",
                "name": f"function-{number}",
                "enabled": True,
                "hog": deliver,
                "retry": {"initial_delay_seconds": 0.2},
                "filters": {
                    "events": [{"id": event, "type": "events"}],
                    "properties": [{"key": "for", "value": kind, "type": "event"}],
                },
            }
            answer = self.server.client.post(FUNCTIONS, json=function)
            answer.raise_for_status()
            self.ids[f"function-{number}"] = answer.json()["id"]
        query = {"name": "stored", "query": {"kind": "HogQLQuery", "query": STORED}}
        self.server.client.post("/api/projects/1/endpoints/", json=query).raise_for_status()

    def send(self) -> None:
        """Send every batch until it is answered 200, as clients do; uuids make repeats safe."""
        starts = range(0, len(self.uuids), BATCH)
        with ThreadPoolExecutor(2) as clients:
            list(clients.map(self._send_batch, starts))

    def _send_batch(self, start: int) -> None:
        batch = [
            {"event": f"event {(start + index) % self.matching}", "uuid": event_uuid,
             "distinct_id": f"user {(start + index) % 1000}", "properties": {"for": "matching"}}
            for index, event_uuid in enumerate(self.uuids[start : start + BATCH])
        ]  # fmt: skip
        while True:
            try:
                body = {"api_key": TOKEN, "batch": batch}
                answer = httpx.post(self.server.url + "/batch/", json=body, timeout=30)
            except httpx.TransportError:
                time.sleep(0.1)
                continue
            if answer.status_code == 200:
                return
            assert answer.status_code == 503, answer.text
            time.sleep(1)

    def wait(self, seconds: float) -> None:
        """Wait until everything arrived and is counted, or nothing changes for ``seconds``."""
        best, moved = -1, time.monotonic()
        while time.monotonic() - moved < seconds:
            arrived = len(self.receiver.arrivals().accepted)
            if arrived > best:
                best, moved = arrived, time.monotonic()
            if arrived >= len(self.uuids) and self.counted("succeeded") >= len(self.uuids):
                return
            time.sleep(2)

    def counted(self, name: str) -> int:
        """The sum of a metric over the matching functions."""
        return sum(totals.get(name, 0) for totals in self.totals().values())

    def totals(self) -> dict[str, dict[str, int]]:
        """Metrics of the matching functions."""
        names = [f"function-{number}" for number in range(self.matching)]
        return {name: self._totals(self.ids[name]) for name in names}

    def _totals(self, function_id: str) -> dict[str, int]:
        path = f"{FUNCTIONS}{function_id}/metrics/totals?breakdown_by=name"
        try:
            return self.server.client.get(path).raise_for_status().json()["totals"]
        except httpx.TransportError:
            return {}

    def stored(self) -> list[int]:
        """``[rows, distinct uuids]`` in the warehouse."""
        path = "/api/projects/1/endpoints/stored/run"
        answer = self.server.client.post(path, json={"refresh": "force"})
        return answer.raise_for_status().json()["results"][0]

    def check(self) -> None:
        """Check that nothing is lost, stored twice or delivered under two ids."""
        arrivals = self.receiver.arrivals()
        due = {
            (f"function-{number % self.matching}", event_uuid)
            for number, event_uuid in enumerate(self.uuids)
        }
        missing = due - arrivals.accepted.keys()
        assert not missing, (len(missing), sorted(missing)[:3], self.totals())
        assert arrivals.accepted.keys() - due == set()
        two_ids = {key for key, ids in arrivals.accepted.items() if len(ids) > 1}
        assert two_ids == set()
        assert self.stored() == [len(self.uuids)] * 2
        by_function = arrivals.by_function()
        for name, totals in self.totals().items():
            for metric in ("triggered", "succeeded", "fetch"):
                assert totals.get(metric, 0) == by_function[name], (name, metric, totals)
            assert totals.get("failed", 0) == 0, (name, totals)


class Killer:
    """Kills the server, or one of its run workers, at random instants."""

    def __init__(self, server: RunningServer, *, kills: int, longest_pause: float) -> None:
        self._server = server
        self._left = kills
        self._chance = random.Random(kills)  # noqa: S311 (instants, not secrets)
        self._longest_pause = longest_pause
        self.done: dict[str, int] = {"server": 0, "executor": 0}
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        """Wait until the last kill is over and the server is up again."""
        self._thread.join()

    def _run(self) -> None:
        while self._left:
            time.sleep(self._chance.uniform(0.3, self._longest_pause))
            self._left -= 1
            if self._chance.random() < 0.5:
                self._server.kill()
                self._server.start()
                self.done["server"] += 1
            elif victims := run_workers(self._server):
                os.kill(self._chance.choice(victims), signal.SIGKILL)
                self.done["executor"] += 1
            else:
                self._left += 1  # none has been started yet


def run_workers(server: RunningServer) -> list[int]:
    """The worker processes that run a server's functions."""
    assert server.process is not None
    parent = server.process.pid
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    commands = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    return [child for child, command in commands.items() if b'"niceness": 5' in command]
