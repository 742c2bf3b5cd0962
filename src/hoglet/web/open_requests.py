"""A deadline for each request body, and one memory budget for all of them.

Without them, connections that send only half a body would hold a slot and memory forever.
"""

import asyncio
from dataclasses import dataclass, field

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hoglet.kit.errors import HogletError, RequestTimeout, Unavailable, Unreadable
from hoglet.web.error_handlers import problem

BODY_SECONDS = 30.0
BUFFER_BYTES = 512 * 1024 * 1024
# Bodies up to this size are accepted even when the budget is used up, so that a few large uploads
# cannot block the events of other clients.
SMALL_BODY_BYTES = 256 * 1024

type Peer = tuple[str, int]


@dataclass(slots=True)
class OpenRequests:
    """Tracks the requests in progress by the peer's address and port.

    Concurrency: modified on the event loop only; other threads may read.
    """

    counts: dict[Peer, int] = field(default_factory=dict)
    reading_since: dict[Peer, float] = field(default_factory=dict)
    """Peers whose body is incomplete, with the loop time when it started."""
    buffered_bytes: int = 0

    def begin(self, peer: Peer) -> None:
        """Record that a request of this peer has started; HTTP/2 peers can have several."""
        self.counts[peer] = self.counts.get(peer, 0) + 1

    def end(self, peer: Peer) -> None:
        """Record that a request of this peer has ended."""
        left = self.counts.pop(peer) - 1
        if left:
            self.counts[peer] = left


class BodyLimits:
    """ASGI middleware: rejects requests whose body takes too much time or memory.

    Args:
        app: the application.
        requests: tracks the requests in progress.
        seconds: deadline for the body, from the end of the headers.
        buffer_bytes: memory budget of all bodies.
    """

    def __init__(
        self,
        app: ASGIApp,
        requests: OpenRequests,
        *,
        seconds: float = BODY_SECONDS,
        buffer_bytes: int = BUFFER_BYTES,
    ) -> None:
        self._app = app
        self.requests = requests
        self.seconds = seconds
        self.buffer_bytes = buffer_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        client = scope.get("client")
        if client is None:  # lifespan, or in-process calls of the console
            await self._app(scope, receive, send)
            return
        peer = (client[0], client[1])
        self.requests.begin(peer)
        try:
            if scope["type"] == "http":
                await _Limited(self, scope, receive, send).run(self._app)
            else:
                await self._app(scope, receive, send)
        finally:
            self.requests.end(peer)


class _Limited:
    """A request whose body is being received."""

    def __init__(self, limits: BodyLimits, scope: Scope, receive: Receive, send: Send) -> None:
        self._limits = limits
        self._requests = limits.requests
        self._scope = scope
        self._peer: Peer = tuple(scope["client"])
        self._receive = receive
        self._send = send
        self._deadline = 0.0  # 0: the application has not read from the body yet
        self._size = 0
        self._complete = False
        self._answering = False

    async def run(self, app: ASGIApp) -> None:
        try:
            await app(self._scope, self.receive, self.send)
        except (RequestTimeout, Unavailable) as error:
            if self._answering:
                raise
            await problem(error)(self._scope, self._receive, self._send)
        except ClientDisconnect:
            # The server reports malformed chunks as a disconnect, which would otherwise be a 500.
            if self._answering or not self._is_chunked():
                raise
            await problem(_malformed_chunks())(self._scope, self._receive, self.send)
        finally:
            self._requests.buffered_bytes -= self._size
            if not self._complete:
                self._requests.reading_since.pop(self._peer, None)

    async def receive(self) -> Message:
        if self._complete:  # only the disconnect follows, at any time
            return await self._receive()
        loop = asyncio.get_running_loop()
        if not self._deadline:
            now = loop.time()
            self._deadline = now + self._limits.seconds
            self._requests.reading_since[self._peer] = now
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise _too_slow(self._limits.seconds) from None
        self._note(message)
        return message

    async def send(self, message: Message) -> None:
        self._answering = True
        if message["type"] == "http.response.start" and self._leaves_a_body():
            # The server then closes the connection; unless told so, the client would send its next
            # request on it and lose it.
            others = [each for each in message["headers"] if each[0].lower() != b"connection"]
            message = {**message, "headers": [*others, (b"connection", b"close")]}
        await self._send(message)

    def _leaves_a_body(self) -> bool:
        if self._complete or self._scope.get("http_version") == "2":
            return False
        return any(
            name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
            for name, value in self._scope["headers"]
        )

    def _is_chunked(self) -> bool:
        return any(name == b"transfer-encoding" for name, _ in self._scope["headers"])

    def _note(self, message: Message) -> None:
        size = len(message.get("body", b""))
        self._size += size
        self._requests.buffered_bytes += size
        if not message.get("more_body", False):
            self._complete = True
            self._requests.reading_since.pop(self._peer, None)
        elif (
            self._size > SMALL_BODY_BYTES
            and self._requests.buffered_bytes > self._limits.buffer_bytes
        ):
            raise _no_memory()


def _too_slow(seconds: float) -> HogletError:
    return RequestTimeout(f"The request body was not received within {seconds:g} seconds.")


def _malformed_chunks() -> HogletError:
    return Unreadable("The chunks of the request body are malformed, or end too early.")


def _no_memory() -> HogletError:
    return Unavailable("Too many large request bodies are being received; try again later.")
