"""A client that sends events of some distinct ids in order, each until it is accepted."""

import itertools
import threading
import time
import uuid
from collections.abc import Sequence
from typing import Any

import httpx

from support.receiver import Receiver
from support.server import TOKEN, RunningServer

DISTINCT_IDS = 5
WINDOW = 8  # so many earlier events are recorded in the person of a stored event
SECONDS = 180
_EVERY = 0.1
_QUERY = (
    "SELECT toString(uuid), properties.n, "
    + ", ".join(f"poe.properties.slot{slot}" for slot in range(WINDOW))
    + " FROM events WHERE event = 'e' LIMIT 50000"
)


class OrderedSender:
    """Sends to servers in turn, as a load balancer does; if one fails, the next one is tried.

    A batch is sent with the same UUIDs until it is answered 200, then the next one follows. Each
    event writes its number to a property of its person, so the person at the time an event was
    stored shows which events were stored before it.

    Args:
        servers: some of them may be down.
        distinct_ids: number of persons, each of which has one event in every batch.
        project: where the events go, by its ``token``.
    """

    def __init__(
        self,
        servers: Sequence[RunningServer],
        *,
        distinct_ids: int = DISTINCT_IDS,
        project: int = 1,
        token: str = TOKEN,
    ) -> None:
        self.project = project
        self._token = token
        self._distinct_ids = distinct_ids
        self._turns = itertools.cycle(servers)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.accepted: dict[str, int] = {}

    def start(self) -> None:
        """Start sending."""
        self._thread.start()

    def stop(self) -> None:
        """Wait until the last batch is accepted."""
        self._stopping.set()
        self._thread.join(SECONDS)
        assert not self._thread.is_alive(), "no server accepts the last batch"

    def _run(self) -> None:
        with httpx.Client(timeout=20) as client:
            for number in itertools.count():
                if self._stopping.is_set():
                    return
                self._send(client, number)
                time.sleep(_EVERY)

    def _send(self, client: httpx.Client, number: int) -> None:
        batch = [_event(number, f"u{each}") for each in range(self._distinct_ids)]
        for server in self._turns:
            try:
                answer = client.post(
                    server.url + "/batch/", json={"api_key": self._token, "batch": batch}
                )
            except httpx.TransportError:
                time.sleep(_EVERY)
                continue
            if answer.status_code == 200:
                break
            time.sleep(_EVERY)
        self.accepted.update({event["uuid"]: number for event in batch})

    def assert_stored(self, server: RunningServer, receiver: Receiver) -> None:
        """Check that all events are stored once, in order, and delivered under one id each."""
        deadline = time.monotonic() + SECONDS
        rows: list[list[Any]] = []
        while time.monotonic() < deadline:
            rows = self._rows(server)
            if self.accepted.keys() <= {row[0] for row in rows} & receiver.arrivals.keys():
                break
            time.sleep(0.5)
        uuids = [row[0] for row in rows]
        assert len(self.accepted) > 10 * DISTINCT_IDS
        assert self.accepted.keys() - set(uuids) == set(), server.log()[-3000:]
        assert len(uuids) == len(set(uuids))
        assert [row for row in rows if not _is_in_order(row)] == []
        assert self.accepted.keys() - receiver.arrivals.keys() == set()
        arrivals = list(receiver.arrivals.items())  # later ones may come
        assert {each for each, ids in arrivals if len(set(ids)) > 1} == set()

    def _rows(self, server: RunningServer) -> list[list[Any]]:
        query = {"query": {"kind": "HogQLQuery", "query": _QUERY}, "refresh": "force_blocking"}
        try:
            answer = server.client.post(f"/api/projects/{self.project}/query/", json=query)
        except httpx.TransportError:
            return []
        return answer.json()["results"] if answer.status_code == 200 else []


def _event(number: int, distinct_id: str) -> dict[str, Any]:
    return {
        "event": "e",
        "distinct_id": distinct_id,
        "uuid": str(uuid.uuid4()),
        "properties": {"n": number, "$set": {f"slot{number % WINDOW}": number}},
    }


def _is_in_order(row: Sequence[Any]) -> bool:
    number, slots = int(row[1]), row[2:]
    return all(
        slots[each % WINDOW] is not None and int(slots[each % WINDOW]) == each
        for each in range(max(number - WINDOW + 1, 0), number + 1)
    )
