"""Connections that send part of a request and then stall."""

import socket
from collections.abc import Collection, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

HEADERS = b"POST /batch/ HTTP/1.1\r\nHost: hoglet.test\r\nX-Half: "
BODY = (
    b"POST /batch/ HTTP/1.1\r\nHost: hoglet.test\r\nContent-Type: application/json\r\n"
    b'Content-Length: 1000\r\n\r\n{"api_key'
)
CONSOLE_BODY = (
    b"POST /console/sign-in HTTP/1.1\r\nHost: hoglet.test\r\nContent-Length: 100\r\n\r\nkey="
)
NOTHING = b""


@contextmanager
def half_sent(port: int, text: bytes, count: int) -> Generator[list[socket.socket]]:
    """Connections that have sent the text; closed at the end of the block."""
    with ExitStack() as stack:
        connections: list[socket.socket] = []
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", port), timeout=60)
            connections.append(stack.enter_context(connection))
            connection.sendall(text)
        yield connections


def is_open(connection: socket.socket) -> bool:
    """Whether the server has neither answered nor closed."""
    connection.setblocking(False)
    try:
        connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False
    else:
        return False
    finally:
        connection.settimeout(60)


def served(connections: Collection[socket.socket]) -> int:
    """How many connections the server has not closed, whatever it sent that was not read yet."""
    ports = {connection.getsockname()[1] for connection in connections}
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    established = [far for _, _, far, state, *_ in lines if state == "01"]
    return sum(int(far.rpartition(":")[2], 16) in ports for far in established)


def last_words(connection: socket.socket) -> bytes:
    """Everything the server sends until it closes the connection."""
    parts: list[bytes] = []
    try:
        while part := connection.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)
