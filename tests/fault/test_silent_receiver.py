"""Receivers that never respond, or never finish responding."""

import socket
import threading
import time
from pathlib import Path

import pytest

from support.accepted import SECONDS, Accepted, add_destination
from support.receiver import Receiver
from support.server import RunningServer

pytestmark = pytest.mark.slow

FUNCTIONS = "/api/projects/1/hog_functions/"
ONE_ATTEMPT = {"retry": {"max_attempts": 1}}


class SilentReceiver:
    """Accepts connections and sends nothing, or an endless answer byte by byte."""

    def __init__(self, *, drips: bool = False) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._drips = drips
        self._connections: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._is_open = True
        for work in (self._accept, self._drip):
            threading.Thread(target=work, daemon=True).start()

    def close(self) -> None:
        self._is_open = False
        self._listener.close()
        for connection in self._connections:
            connection.close()

    def _accept(self) -> None:
        while self._is_open:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            if self._drips:
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            self._connections.append(connection)

    def _drip(self) -> None:
        while self._is_open and self._drips:
            for connection in list(self._connections):
                try:
                    connection.sendall(b"1\r\nx\r\n")
                except OSError:
                    self._connections.remove(connection)
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
