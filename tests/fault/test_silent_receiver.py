"""Receivers that never respond, or never finish responding."""

import socket
import threading
import time
from pathlib import Path

import httpx
import pytest

from support.accepted import SECONDS, Accepted, add_destination
from support.receiver import Receiver
from support.server import RunningServer
from support.waiting import wait_for

pytestmark = pytest.mark.slow

FUNCTIONS = "/api/projects/1/hog_functions/"
ONE_ATTEMPT = {"retry": {"max_attempts": 1}}


class SilentReceiver:
    """Accepts connections and sends nothing, or an endless answer byte by byte."""

    def __init__(self, *, drips: bool = False) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._drips = drips
        self.connections: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._is_open = True
        for work in (self._accept, self._drip):
            threading.Thread(target=work, daemon=True).start()

    def close(self) -> None:
        self._is_open = False
        self._listener.close()
        for connection in self.connections:
            connection.close()

    def _accept(self) -> None:
        while self._is_open:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            if self._drips:
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            self.connections.append(connection)

    def _drip(self) -> None:
        while self._is_open and self._drips:
            for connection in list(self.connections):
                try:
                    connection.sendall(b"1\r\nx\r\n")
                except OSError:
                    self.connections.remove(connection)
            time.sleep(0.2)


@pytest.mark.parametrize("drips", [False, True], ids=["says nothing", "never ends"])
def test_a_receiver_that_never_answers(tmp_path: Path, receiver: Receiver, drips: bool) -> None:
    """Its deliveries end as dead letters, each one; those of others arrive meanwhile."""
    silent = SilentReceiver(drips=drips)
    server = RunningServer(tmp_path / "data").start()
    try:
        function = add_destination(server, f"{silent.url}/{{event.uuid}}", **ONE_ATTEMPT)
        accepted = Accepted(server, receiver)
        for _ in range(5):
            assert accepted.send(8) == 200
        accepted.assert_all_there()

        dead: set[str] = set()
        deadline = time.monotonic() + SECONDS
        while dead != accepted.answered and time.monotonic() < deadline:
            answer = server.client.get(f"{FUNCTIONS}{function}/dead_letters?limit=100").json()
            dead = {letter["event_uuid"] for letter in answer["results"]}
            time.sleep(0.5)
        assert dead == accepted.answered
        assert server.client.get("/_readyz").status_code == 200
    finally:
        assert server.stop() == 0
        silent.close()


def test_a_second_signal_ends_a_server_that_waits_for_a_receiver(tmp_path: Path) -> None:
    """It need not wait: the delivery is repeated after the start."""
    silent = SilentReceiver()
    server = RunningServer(tmp_path / "data").start()
    try:
        function = add_destination(server, silent.url, hog=f"{f"fetch('{silent.url}');" * 10}")
        accepted = Accepted(server)
        assert accepted.send(1) == 200
        wait_for(lambda: silent.connections)
        assert server.process is not None
        server.process.terminate()
        wait_for(lambda: _refuses_connections(server))
        server.process.terminate()
        assert server.process.wait(timeout=60) == 1  # 0 if it had waited
        before = len(silent.connections)
        server.start()
        wait_for(lambda: len(silent.connections) > before)
        assert accepted.stored().keys() == accepted.answered
        assert server.client.get(f"{FUNCTIONS}{function}").json()["status"]["state"] == 1
    finally:
        server.kill()
        silent.close()


def _refuses_connections(server: RunningServer) -> bool:
    try:
        server.client.get("/_health")
    except httpx.TransportError:
        return True
    return False


def test_a_server_stops_while_a_receiver_says_nothing(tmp_path: Path) -> None:
    """And the deliveries that were on their way are tried again after the start."""
    silent = SilentReceiver()
    server = RunningServer(tmp_path / "data").start()
    try:
        function = add_destination(server, f"{silent.url}/{{event.uuid}}", **ONE_ATTEMPT)
        accepted = Accepted(server)
        assert accepted.send(10) == 200
        accepted.assert_all_there()
        assert server.stop() == 0
        server.start()
        dead = 0
        deadline = time.monotonic() + SECONDS
        while dead < 10 and time.monotonic() < deadline:
            answer = server.client.get(f"{FUNCTIONS}{function}/dead_letters?limit=100").json()
            dead = len({letter["event_uuid"] for letter in answer["results"]})
            time.sleep(0.5)
        assert dead == 10
    finally:
        server.stop()
        silent.close()
