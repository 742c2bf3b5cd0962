"""Closes connections that occupy a slot without making progress.

The web server accepts a fixed number of connections and only has timeouts for idle connections and
(see ``hoglet.web.request_body``) bodies. The rest is done here by inspecting the sockets of this
process every two seconds:

- incomplete headers: 408 and closed after a deadline;
- responses that the client does not read: closed after a deadline;
- nearly all slots in use: the connections that have waited longest are closed, idle ones first,
then incomplete headers, then incomplete bodies, so that health checks and events always get
through.

Linux only, where a process can see its sockets in ``/proc``; elsewhere this does nothing.
"""

import asyncio
import contextlib
import os
import resource
import socket
import struct
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from enum import IntEnum
from typing import NamedTuple

import msgspec
import structlog

from hoglet.kit.clock import until_tick
from hoglet.web.request_body import OpenRequests, Peer

SCAN_SECONDS = 2.0
HURRY_SECONDS = 0.2  # between scans while nearly all slots are in use
FEW_CONNECTIONS = 32  # a scan of so few takes 0.2 ms, less than to have a thread do it
RESERVED_DESCRIPTORS = 256  # for databases, receivers, worker processes and files
MIN_CONNECTIONS = 64
MAX_CONNECTIONS = 32_768
LATE_SECONDS = 2 * SCAN_SECONDS  # a scan later than this found the server busy or stopped
PRESSURE = 0.9  # of the slots: above this, connections are closed early ...
RELIEF = 0.5  # ... down to this
_DESCRIPTORS = "/proc/self/fd"
_TIMEOUT = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_TCP_INFO_BYTES = 192
_SO_COOKIE, _COOKIE_BYTES = 57, 8  # <asm-generic/socket.h>; Python has no name for it
_MILLISECONDS = struct.Struct("=4x3I")  # at byte 40: last data sent, ack sent, data received
_BYTES = struct.Struct("=QQ8xI")  # at byte 120: acknowledged, received; 2 segment counts; unsent

log = structlog.get_logger()


def connection_limit(requested: int) -> int:
    """Maximum number of connections; ``requested`` 0 means as many as possible.

    Bounded by the limit of open files, of which databases, receivers and files need some.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        possible = MAX_CONNECTIONS
    else:
        possible = min(MAX_CONNECTIONS, max(MIN_CONNECTIONS, soft - RESERVED_DESCRIPTORS))
    return min(requested, possible) if requested else possible


class State(IntEnum):
    """What a connection waits for; under pressure the lowest states are closed first."""

    IDLE = 0
    HEADERS = 1
    BODY = 2
    ANSWER = 3


class TcpConnection(msgspec.Struct):
    """One connection, as seen in a scan."""

    descriptor: int
    peer: Peer
    cookie: bytes  # the kernel's id of the socket: a client can use a port again within a scan
    sent_ms: int
    received_ms: int
    acknowledged: int
    received: int
    unsent: int

    @property
    def has_half_headers(self) -> bool:
        """Whether the client has begun a request, or has yet to send its first one."""
        return not self.acknowledged or self.received_ms < self.sent_ms


class Waiting(NamedTuple):
    """When a connection last made progress, and the bytes acknowledged by then."""

    state: State
    since: float
    acknowledged: int
    cookie: bytes


class Deadlines(msgspec.Struct, frozen=True):
    """Seconds until a connection without progress is closed."""

    header_seconds: float = 30.0
    answer_seconds: float = 60.0


class ConnectionReaper:
    """Scans the connections of a port and closes those without progress.

    Concurrency: ``scan`` runs in one thread at a time; open requests can change during a scan.
    """

    def __init__(
        self, port: int, requests: OpenRequests, deadlines: Deadlines, *, limit: int
    ) -> None:
        self._port = port
        self._requests = requests
        self._deadlines = deadlines
        self._limit = limit
        self._waiting: dict[Peer, Waiting] = {}
        self._scanned_at = float("inf")
        self._open = 0
        self._is_full = False

    async def run(self) -> None:
        """Scan until cancelled."""
        while os.path.isdir(_DESCRIPTORS):  # noqa: ASYNC240, PTH112 (a virtual file system)
            await asyncio.sleep(until_tick(HURRY_SECONDS if self._is_full else SCAN_SECONDS))
            try:
                if self._open <= FEW_CONNECTIONS:
                    self.scan(time.monotonic())
                else:
                    await asyncio.to_thread(self.scan, time.monotonic())
            except OSError:  # no file descriptors left for the scan
                log.warning("connections could not be scanned", action="reap_failed")

    def scan(self, now: float) -> int:
        """Close connections past their deadline; returns how many.

        Args:
            now: the value of ``time.monotonic``, which is also the event loop's clock.
        """
        before, self._waiting = self._waited_until(now), {}
        everything = list(open_connections(self._port))
        self._open = len(everything)
        expired: list[tuple[TcpConnection, State]] = []
        closable: list[tuple[State, float, TcpConnection]] = []
        for connection in everything:
            waiting = self._classify(connection, before.get(connection.peer), now)
            if waiting is None:
                continue
            self._waiting[connection.peer] = waiting
            if now - waiting.since > self._seconds(waiting.state):
                expired.append((connection, waiting.state))
            elif waiting.state is not State.ANSWER:
                closable.append((waiting.state, waiting.since, connection))
        excess = self._excess(len(everything), len(expired))
        self._is_full = bool(excess)
        closable.sort(key=lambda item: item[:2])
        expired += [(connection, state) for state, _, connection in closable[:excess]]
        closed = sum(_close(connection, self._port, state) for connection, state in expired)
        if closed:
            log.info(
                "closed connections that made no progress",
                action="connections_closed",
                closed=closed,
                early=excess,
                open=len(everything),
            )
        return closed

    def _waited_until(self, now: float) -> dict[Peer, Waiting]:
        """The connections of the last scan, without the time in which the server did not run.

        A request that arrives while the server is stopped or busy is not its client's delay.
        """
        lost = max(0.0, now - self._scanned_at - LATE_SECONDS)
        self._scanned_at = now
        if not lost:
            return self._waiting
        return {
            peer: waiting._replace(since=waiting.since + lost)
            for peer, waiting in self._waiting.items()
        }

    def _classify(
        self, connection: TcpConnection, before: Waiting | None, now: float
    ) -> Waiting | None:
        """What the connection waits for; None while the server is processing a request."""
        peer = connection.peer
        if connection.unsent:
            state = State.ANSWER
        elif (since := self._requests.reading_since.get(peer)) is not None:
            return Waiting(State.BODY, since, connection.acknowledged, connection.cookie)
        elif peer in self._requests.counts:
            return None
        elif connection.has_half_headers:
            state = State.HEADERS
        else:
            idle = min(connection.sent_ms, connection.received_ms) / 1000
            return Waiting(State.IDLE, now - idle, connection.acknowledged, connection.cookie)
        waiting = Waiting(state, now, connection.acknowledged, connection.cookie)
        if before and before._replace(since=now) == waiting:
            return before
        return waiting

    def _seconds(self, state: State) -> float:
        """The deadline; infinite for idle connections and bodies, which the web server handles."""
        if state is State.HEADERS:
            return self._deadlines.header_seconds
        return self._deadlines.answer_seconds if state is State.ANSWER else float("inf")

    def _excess(self, count: int, expired: int) -> int:
        """Number of connections to close before their deadline."""
        if count - expired <= self._limit * PRESSURE:
            return 0
        return count - expired - int(self._limit * RELIEF)


@asynccontextmanager
async def reaping(reaper: ConnectionReaper) -> AsyncGenerator[None]:
    """Run the reaper during the block."""
    task = asyncio.create_task(reaper.run(), name="connection reaper")
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def open_connections(port: int) -> Iterator[TcpConnection]:
    """The connections that this process has accepted on a port."""
    for name in os.listdir(_DESCRIPTORS):  # noqa: PTH208 (paths would cost more than the look)
        connection = _tcp_state(int(name), port)
        if connection is not None:
            yield connection


def _tcp_state(descriptor: int, port: int) -> TcpConnection | None:
    """The kernel's state of a connection to the port; None for other descriptors."""
    try:
        # Naming a family saves a system call. It bounds the length of addresses, and those of IPv6
        # are the longest; of which family they are, they say themselves.
        probe = socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 0, fileno=descriptor)
    except OSError:  # a file
        return None
    try:
        peer = _peer(probe, port)
        if peer is None:
            return None
        info = probe.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
        cookie = probe.getsockopt(socket.SOL_SOCKET, _SO_COOKIE, _COOKIE_BYTES)
    except OSError:
        return None
    finally:
        probe.detach()  # owned by the web server
    sent_ms, _, received_ms = _MILLISECONDS.unpack_from(info, 40)
    acknowledged, received, unsent = _BYTES.unpack_from(info, 120)
    times = (sent_ms, received_ms)
    return TcpConnection(descriptor, peer, cookie, *times, acknowledged, received, unsent)


def _peer(probe: socket.socket, port: int) -> Peer | None:
    """The other end of a connection to the port."""
    local = probe.getsockname()
    if not isinstance(local, tuple) or local[1] != port:
        return None
    host, peer_port = probe.getpeername()[:2]
    return host.partition("%")[0], peer_port  # fe80::1%eth0


def _close(connection: TcpConnection, port: int, state: State) -> bool:
    """Close a connection; returns whether it was still the same one."""
    try:
        # A duplicate descriptor cannot be reused for another file between the two steps.
        copy = socket.socket(fileno=os.dup(connection.descriptor))
    except OSError:
        return False
    with copy, contextlib.suppress(OSError):
        if _peer(copy, port) != connection.peer:
            return False
        if state is State.HEADERS and connection.received:
            copy.send(_TIMEOUT, socket.MSG_DONTWAIT)
        if state is State.ANSWER:  # drop unread data
            copy.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        copy.shutdown(socket.SHUT_RDWR)
        return True
    return False
