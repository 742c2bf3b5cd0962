"""Records what a server accepted; verifies it was stored once and delivered at least once."""

import uuid
from collections import Counter
from typing import Any

import httpx

from support.receiver import Receiver
from support.server import TOKEN, RunningServer
from support.waiting import pauses

SECONDS = 120  # until everything accepted is expected to be through; a busy machine needs many
_QUERY = "SELECT toString(uuid), count() FROM events GROUP BY 1 LIMIT 50000"
_FUNCTIONS = "/api/projects/1/hog_functions/"
_ENDPOINTS = "/api/projects/1/endpoints/"


class Accepted:
    """Sends events, records those answered 200, and counts them at the end.

    Args:
        server: a running server with an empty project.
        receiver: if there is one, every event must be delivered to it.
    """

    def __init__(self, server: RunningServer, receiver: Receiver | None = None) -> None:
        self.server = server
        self.receiver = receiver
        self.answered: set[str] = set()
        self.statuses: Counter[int] = Counter()
        query = {"name": "stored", "query": {"kind": "HogQLQuery", "query": _QUERY}}
        server.client.post(_ENDPOINTS, json=query).raise_for_status()
        if receiver is not None:
            self.function = add_destination(server, f"{receiver.url}/{{event.uuid}}")

    def send(self, count: int = 20, *, padding: int = 0, timeout: float = 60) -> int:
        """Send a batch; returns the status, 0 if the connection broke."""
        uuids = [str(uuid.uuid4()) for _ in range(count)]
        batch = [
            {"event": "e", "distinct_id": f"u{number}", "uuid": event_uuid,
             "properties": {"padding": "x" * padding}}
            for number, event_uuid in enumerate(uuids)
        ]  # fmt: skip
        body = {"api_key": TOKEN, "batch": batch}
        try:
            status = httpx.post(self.server.url + "/batch/", json=body, timeout=timeout).status_code
        except httpx.TransportError:
            status = 0
        self.statuses[status] += 1
        if status == 200:
            self.answered.update(uuids)
        return status

    def stored(self) -> dict[str, int]:
        """Rows per uuid in the warehouse; {} while it does not answer."""
        run = self.server.client.post(_ENDPOINTS + "stored/run", json={"refresh": "force"})
        if run.status_code != 200:
            return {}
        return {row[0]: row[1] for row in run.json()["results"]}

    def assert_all_there(self) -> None:
        """Check that everything answered 200 is stored once and was delivered under one id."""
        stored: dict[str, int] = {}
        for _ in pauses(SECONDS):
            stored = self.stored()
            if self.answered <= stored.keys() and self.answered <= self._arrived():
                break
        assert self.answered - stored.keys() == set(), self.server.log()[-3000:]
        assert {event_uuid for event_uuid, number in stored.items() if number > 1} == set()
        if self.receiver is not None:
            assert self.answered - self._arrived() == set(), self.account()
            arrivals = self.receiver.arrivals.items()
            assert {event_uuid for event_uuid, ids in arrivals if len(set(ids)) > 1} == set()

    def account(self) -> dict[str, Any]:
        """The function's own logs and metrics, for the message of a failure."""
        path = _FUNCTIONS + self.function
        return {
            "totals": self.server.client.get(f"{path}/metrics/totals?breakdown_by=name").json(),
            "dead_letters": self.server.client.get(f"{path}/dead_letters?limit=3").json(),
        }

    def _arrived(self) -> set[str]:
        return self.answered if self.receiver is None else set(self.receiver.arrivals)


def add_destination(
    server: RunningServer, url: str, event: str = "e", *, project: int = 1, **more: Any
) -> str:
    """Create a function that posts to a URL (``{event.uuid}`` is kept as written); its id."""
    destination = {
        "type": "destination",
        "name": "deliver",
        "enabled": True,
        "hog": f"fetch(f'{url}', {{'method': 'POST'}})",
        "filters": {"events": [{"id": event, "type": "events"}]},
        **more,
    }
    path = f"/api/projects/{project}/hog_functions/"
    response = server.client.post(path, json=destination)
    response.raise_for_status()
    return response.json()["id"]
