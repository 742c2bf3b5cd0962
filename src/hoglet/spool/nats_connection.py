"""A NATS connection that reconnects automatically and logs when it is lost.

Source: docs/adr/0038-jetstream.md.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

import nats
import nats.errors
import structlog
from nats.aio.client import Client
from nats.js import JetStreamContext

from hoglet.spool.address import NatsAddress
from hoglet.spool.nats_publishing import Publisher
from hoglet.spool.port import SpoolUnavailable

log = structlog.get_logger()

# After this long without a broker, callers get SpoolUnavailable; a retry may succeed.
PATIENCE_SECONDS = 4.0
_CONNECT_SECONDS = 2
_RECONNECT_SECONDS = 0.25
_PING_SECONDS = 5


class Connected(NamedTuple):
    """A client, its requests to JetStream, and its publisher."""

    client: Client
    stream: JetStreamContext
    publisher: Publisher


class NatsConnection:
    """One client, replaced when it stops reconnecting.

    Args:
        address: addresses of the servers.
        on_open: called with each new client.

    Concurrency: safe to share in one event loop.
    """

    def __init__(
        self, address: NatsAddress, on_open: Callable[[Client], Coroutine[Any, Any, None]]
    ) -> None:
        self._address = address
        self._on_open = on_open
        self._connected: Connected | None = None
        self._opening = asyncio.Lock()
        self._changed = asyncio.Event()  # connected or lost; replaced at each change
        self._failure: Exception | None = None
        self._lost_at: float | None = None

    async def ready(self, wait_seconds: float = PATIENCE_SECONDS) -> Connected:
        """Wait for a connected client.

        Raises:
            SpoolUnavailable: there is none within this time, or the connection has been lost for
                that long.
        """
        gone = 0 if self._lost_at is None else time.monotonic() - self._lost_at
        try:
            async with asyncio.timeout(max(wait_seconds - gone, 0)):
                while not (opened := await self._opened()).client.is_connected:
                    await self._changed.wait()
                return opened
        except (TimeoutError, OSError, nats.errors.Error) as error:
            raise self.unavailable(self._failure or error) from error

    async def answer[T](self, work: Coroutine[Any, Any, T], wait_seconds: float) -> T:
        """Await the result of a request, within the timeout and while the connection is up.

        Raises:
            ConnectionResetError, TimeoutError: whether the server read the request is unknown.
        """
        request = asyncio.create_task(work)
        lost = asyncio.create_task(self._changed.wait())
        try:
            waited = {request, lost}
            await asyncio.wait(waited, timeout=wait_seconds, return_when=asyncio.FIRST_COMPLETED)
            if request.done():
                return request.result()
            if lost.done():
                raise ConnectionResetError("the connection broke")
            raise TimeoutError
        finally:
            request.cancel()
            lost.cancel()

    def unavailable(self, error: Exception) -> SpoolUnavailable:
        """The error to raise for callers."""
        return SpoolUnavailable(
            f"The spool at {self._address.public} is not available: {_reason(error)}."
        )

    async def close(self) -> None:
        """Close the connection; pending requests fail."""
        connected, self._connected = self._connected, None
        if connected is not None:
            await connected.client.close()

    async def _opened(self) -> Connected:
        async with self._opening:
            if self._connected is None or self._connected.client.is_closed:
                client = await nats.connect(
                    self._address.servers,
                    name="hoglet",
                    connect_timeout=_CONNECT_SECONDS,
                    reconnect_time_wait=_RECONNECT_SECONDS,  # pyright: ignore[reportArgumentType] (asyncio.sleep)
                    max_reconnect_attempts=-1,
                    ping_interval=_PING_SECONDS,
                    no_echo=True,
                    error_cb=self._on_error,
                    disconnected_cb=self._on_lost,
                    reconnected_cb=self._on_connected,
                    closed_cb=self._on_change,
                )
                await self._on_open(client)
                publisher = Publisher(client)
                await publisher.listen()
                self._failure = self._lost_at = None
                self._connected = Connected(client, client.jetstream(), publisher)
            return self._connected

    async def _on_error(self, error: Exception) -> None:
        # A refused login closes the connection, and some attempts see only that it was closed.
        if self._failure is None or not _is_refused_login(self._failure):
            self._failure = error

    async def _on_lost(self) -> None:
        if self._connected is not None:  # otherwise hoglet is closing it
            log.warning("the connection to NATS is lost", action="spool_lost")
        self._lost_at = time.monotonic()
        await self._on_change()

    async def _on_connected(self) -> None:
        log.info("connected to NATS again", action="spool_back")
        self._failure = self._lost_at = None
        await self._on_change()

    async def _on_change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _is_refused_login(error: Exception) -> bool:
    """The client has no type of its own for the broker's error at the start of a connection."""
    return "authorization violation" in str(error).lower()


def _reason(error: Exception) -> str:
    """Describe an error in one line; timeouts have no message of their own."""
    return str(error).strip().rstrip(".").replace("\n", " ") or "no answer"
