"""A delivery target with realistic failures, in its own process.

One request in ten is answered 500, answered 429 with ``Retry-After``, never answered, or ends with
a connection reset. The outcome depends on the delivery id and the attempt only, so a run can be
repeated. Each arrival is a line of a file: ``function event delivery attempt outcome``.
"""

import asyncio
import contextlib
import socket
import struct
import subprocess
import sys
import zlib
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from support.server import free_port

FAILING = 0.1
_KINDS = ("500", "429", "silence", "reset")
_ANSWERS = {
    "ok": b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    "500": b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 4\r\n\r\nsick",
    "429": b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n",
}


class FlakyReceiver:
    """Runs the process; reads what arrived.

    Args:
        log: file of the arrivals.
    """

    def __init__(self, log: Path) -> None:
        self._log = log
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        command = [sys.executable, str(Path(__file__)), str(port), str(log)]
        environment = {"PYTHONPATH": str(Path(__file__).parent.parent)}
        self._process = subprocess.Popen(command, env=environment)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()

    def arrivals(self) -> "Arrivals":
        """Everything that arrived so far."""
        return Arrivals(self._log.read_text() if self._log.exists() else "")


class Arrivals:
    """Attributes:
    accepted: ``{(function, event): {delivery id: times answered 200}}``.
    outcomes: ``{"ok": 90, "500": 3, …}``.
    """

    def __init__(self, lines: str) -> None:
        self.accepted: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self.outcomes: Counter[str] = Counter()
        for line in lines.splitlines():
            function, event, delivery, _, outcome = line.split(" ")
            self.outcomes[outcome] += 1
            if outcome == "ok":
                self.accepted[function, event][delivery] += 1

    def by_function(self) -> Counter[str]:
        """How many events each function delivered."""
        return Counter(function for function, _ in self.accepted)


class _Connection(asyncio.Protocol):
    """The part of HTTP/1.1 that hoglet's client needs."""

    def __init__(self, log: Any) -> None:
        self._log = log
        self._buffer = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].decode("latin-1").split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in head[1:])
            whole = end + 4 + int(headers.get("content-length", 0))
            if len(self._buffer) < whole:
                return
            self._buffer = self._buffer[whole:]
            self._answer(head[0].split(" ")[1], headers)

    def _answer(self, path: str, headers: dict[str, str]) -> None:
        delivery, attempt = headers["x-hoglet-delivery"], headers["x-hoglet-attempt"]
        outcome = drawn(delivery, attempt)
        function, event = path.strip("/").split("/")
        self._log.write(f"{function} {event} {delivery} {attempt} {outcome}\n")
        if outcome in _ANSWERS:
            self._transport.write(_ANSWERS[outcome])
        elif outcome == "reset":
            now = struct.pack("ii", 1, 0)  # close by a reset, not by an orderly end
            connection = self._transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, now)
            self._transport.abort()


def drawn(delivery: str, attempt: str) -> str:
    """The outcome of an attempt."""
    chance = zlib.crc32(f"{delivery} {attempt}".encode()) / 2**32
    return "ok" if chance >= FAILING else _KINDS[int(chance / FAILING * len(_KINDS))]


async def _serve(port: int, log: Any) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(log), "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt), Path(sys.argv[2]).open("a", buffering=1) as opened:
        asyncio.run(_serve(int(sys.argv[1]), opened))
