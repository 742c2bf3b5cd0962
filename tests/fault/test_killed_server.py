"""The runs of a killed server go on before its leases expire: on another server, or on its own.

Source: docs/adr/0065-leases-of-dead-servers.md.
"""

import threading
from collections.abc import Generator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from support.accepted import add_destination
from support.local_http import Handler, LocalHttp
from support.server import TOKEN, RunningServer
from support.waiting import wait_for
from support.warehouses import new_clickhouse_database

pytestmark = pytest.mark.slow

RUNS = 20
LEASES_EXPIRE_SECONDS = 35  # at the earliest: they last 60 and are extended every 20 seconds


class HangingReceiver(LocalHttp):
    """Answers no request until :meth:`recover`; ``arrivals`` are the paths of answered ones."""

    def __init__(self) -> None:
        self.arrivals, self.hanging = set[str](), set[str]()
        self._has_recovered = threading.Event()
        arrivals, hanging, has_recovered = self.arrivals, self.hanging, self._has_recovered

        class Delivered(Handler):
            def handle_any(self) -> None:
                if not has_recovered.is_set():
                    hanging.add(self.path)
                    threading.Event().wait()
                arrivals.add(self.path)
                self.answer(200)

        super().__init__(Delivered)

    def recover(self) -> None:
        """Answer requests that arrive from now on."""
        self._has_recovered.set()


@pytest.fixture
def receiver() -> Generator[HangingReceiver]:
    opened = HangingReceiver()
    yield opened
    opened.close()


@pytest.fixture
def server(
    tmp_path: Path, postgres_url: str, clickhouse_server: str, receiver: HangingReceiver
) -> Generator[RunningServer]:
    """A server that is waiting for the responses to its deliveries."""
    with new_clickhouse_database(clickhouse_server) as warehouse:
        server = RunningServer(
            tmp_path / "data",
            database_url=postgres_url,
            warehouse_url=warehouse,
            secret_keys=Fernet.generate_key().decode(),
        )
        server.start()
        add_destination(server, f"{receiver.url}/{{event.uuid}}")
        assert _send(server) == 200
        wait_for(lambda: len(receiver.hanging) == RUNS)
        yield server
        if server.process is not None:
            server.kill()


def _send(server: RunningServer) -> int:
    batch = [{"event": "e", "distinct_id": f"u{number}"} for number in range(RUNS)]
    return server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).status_code


def test_another_server_continues_the_runs_of_a_killed_one(
    tmp_path: Path, server: RunningServer, receiver: HangingReceiver
) -> None:
    other = RunningServer(tmp_path / "other")
    other.environment = server.environment | {"HOGLET_DATA_DIR": str(other.data_dir)}
    other.start()
    try:
        server.kill()
        receiver.recover()
        wait_for(lambda: receiver.arrivals == receiver.hanging, seconds=LEASES_EXPIRE_SECONDS)
    finally:
        other.kill()


def test_a_killed_server_continues_its_runs_when_it_is_started_again(
    server: RunningServer, receiver: HangingReceiver
) -> None:
    """And it stores new events at once: its former name has no partitions any more."""
    server.kill()
    receiver.recover()
    server.start()
    assert _send(server) == 200
    wait_for(lambda: len(receiver.arrivals) == 2 * RUNS, seconds=LEASES_EXPIRE_SECONDS)
    assert receiver.hanging < receiver.arrivals
