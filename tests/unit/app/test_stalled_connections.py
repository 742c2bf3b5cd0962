"""Stalled connections are recognized by their socket, and by time in which the server ran."""

import socket
from collections.abc import Generator
from contextlib import closing

import pytest

from hoglet.app.http.stalled_connections import SCAN_SECONDS, ConnectionReaper, Deadlines
from hoglet.web.request_body import OpenRequests
from support.half_sent import HEADERS, is_open, last_words

HEADER_SECONDS = 30.0


class Listener:
    """Accepts connections that this process scans."""

    def __init__(self, host: str) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listening = socket.create_server((host, 0), family=family)
        self.address = self.listening.getsockname()[:2]
        self.accepted: list[socket.socket] = []
        deadlines = Deadlines(header_seconds=HEADER_SECONDS)
        self.reaper = ConnectionReaper(self.address[1], OpenRequests(), deadlines, limit=100)

    def connect(self, text: bytes, source: tuple[str, int] | None = None) -> socket.socket:
        client = socket.create_connection(self.address, timeout=10, source_address=source)
        accepted = self.listening.accept()[0]
        self.accepted.append(accepted)
        client.sendall(text)
        accepted.recv(len(text), socket.MSG_PEEK)  # it has arrived
        return client

    def scan(self, start: float, end: float) -> int:
        """Scan as often as a server does; the number of connections closed."""
        steps = range(int((end - start) / SCAN_SECONDS) + 1)
        return sum(self.reaper.scan(start + step * SCAN_SECONDS) for step in steps)

    def close(self) -> None:
        for each in [self.listening, *self.accepted]:
            each.close()


@pytest.fixture(params=["127.0.0.1", "::1"])
def listener(request: pytest.FixtureRequest) -> Generator[Listener]:
    try:
        listening = Listener(request.param)
    except OSError:
        pytest.skip("this machine has no IPv6")
    with closing(listening):
        yield listening


def test_half_headers_are_a_408_after_the_deadline(listener: Listener) -> None:
    with listener.connect(HEADERS) as client:
        assert listener.scan(0, HEADER_SECONDS) == 0
        assert is_open(client)
        assert listener.scan(HEADER_SECONDS + SCAN_SECONDS, HEADER_SECONDS + SCAN_SECONDS) == 1
        assert last_words(client).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("is_closed_by_server", [True, False])
def test_a_new_connection_from_the_same_port_has_its_own_time(
    listener: Listener, *, is_closed_by_server: bool
) -> None:
    with listener.connect(HEADERS) as stalled:
        source = stalled.getsockname()[:2]
        listener.scan(0, HEADER_SECONDS + (SCAN_SECONDS if is_closed_by_server else 0))
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    listener.accepted.pop().close()
    with listener.connect(HEADERS, source) as client:
        assert listener.scan(HEADER_SECONDS + 2 * SCAN_SECONDS, 2 * HEADER_SECONDS) == 0
        assert is_open(client)


def test_time_in_which_the_server_stood_still_does_not_count(listener: Listener) -> None:
    with listener.connect(HEADERS) as client:
        assert listener.scan(0, 0) == 0
        assert listener.scan(1000, 1000 + HEADER_SECONDS / 2) == 0
        assert is_open(client)
        assert listener.scan(1000 + HEADER_SECONDS / 2, 1000 + HEADER_SECONDS) == 1
