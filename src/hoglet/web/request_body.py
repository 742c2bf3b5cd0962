"""Reads request bodies with limits on size, depth, time and memory; rejects invalid JSON.

Handlers call ``read_json`` or ``read_object`` instead of declaring body parameters, so that every
kind of invalid body gets the specified response. :class:`BodyLimits` sets a deadline for each body
and one memory budget for all: without them, connections that send only half a body would hold a
slot and memory forever.

Source: docs/spec/hog-functions.md#12-errors-keys-rate-limits (``parse_error``,
``request_too_large``, ``unsupported_media_type``).
"""

import asyncio
import json
from collections.abc import Awaitable
from typing import Any

import msgspec
import orjson
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hoglet.kit.compression import ENCODINGS, UNREAD_ENCODINGS
from hoglet.kit.errors import (
    HogletError,
    Invalid,
    RequestTimeout,
    TooLarge,
    Unavailable,
    Unreadable,
    UnsupportedMediaType,
)
from hoglet.kit.json import is_deeper_than, path_of_lone_surrogate
from hoglet.web.error_handlers import problem
from hoglet.web.validation import not_a_dict

# docs/spec/hog-functions.md#12-errors-keys-rate-limits; create_application passes the setting
DEFAULT_BODY_BYTES = 20 * 1024 * 1024
NESTING_LIMIT = 128  # orjson serializes only 254 levels, and stored values must be serializable
BODY_SECONDS = 30.0
LATE_SECONDS = 1.0  # of the timer of the deadlines: more than one slow turn of the event loop
BUFFER_BYTES = 512 * 1024 * 1024
SMALL_BODY_BYTES = 256 * 1024  # accepted when the budget is used up, so that events get through
BODY = "hoglet.body"
_JSON = "hoglet.json"
BODY_KEY = "personal_api_key"  # may carry the caller's key (hoglet.access.auth); never a field

type Peer = tuple[str, int]
"""The other end of a connection: its address and port. Behind a proxy, that is the proxy."""


async def read_body(request: Request, *, limit_bytes: int | None = None) -> bytes:
    """The raw body; read once per request and cached for both authorization and the handler.

    Raises:
        TooLarge: more than ``limit_bytes`` (default: the application's ``body_limit_bytes``).
    """
    return await receive_body(request.scope, request.receive, limit_bytes=limit_bytes)


async def receive_body(scope: Scope, receive: Receive, *, limit_bytes: int | None = None) -> bytes:
    """As ``read_body``, for middleware."""
    body: bytes | None = scope.get(BODY)
    if body is not None:
        return body
    limit = limit_bytes or getattr(scope["app"].state, "body_limit_bytes", DEFAULT_BODY_BYTES)
    body = scope[BODY] = await _stream(scope, receive, limit)
    return body


async def read_json(request: Request) -> Any:
    """The parsed body; ``{}`` when it is empty.

    Raises:
        Unreadable: not JSON, or nested deeper than ``NESTING_LIMIT``.
        UnsupportedMediaType: the content type is not JSON.
        TooLarge: see ``read_body``.
    """
    if _JSON in request.scope:
        return request.scope[_JSON]
    body = await read_body(request)
    if body.strip():
        _refuse_other_media(request.headers)
    parsed = parse_json(body)
    request.scope[_JSON] = parsed
    return parsed


async def read_object(request: Request) -> dict[str, Any]:
    """The parsed body, which must be an object; the caller's API key is removed.

    Raises:
        Invalid: JSON, but not an object.
    """
    parsed = await read_json(request)
    if not isinstance(parsed, dict):
        raise Invalid(not_a_dict(parsed), code="not_a_dict")
    return {name: value for name, value in parsed.items() if name != BODY_KEY}


def parse_json(body: bytes) -> Any:
    """Parse JSON into dict, list, str, int, float, bool or None; ``{}`` if it is empty.

    Raises:
        Unreadable: not JSON (RFC 8259; no NaN, no lone surrogates), or nested too deeply.
    """
    if not body.strip():
        return {}
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _unreadable(body, error) from None
    if is_deeper_than(parsed, NESTING_LIMIT):
        raise Unreadable(f"JSON parse error - nested deeper than {NESTING_LIMIT} levels")
    return parsed


def _unreadable(body: bytes, error: ValueError) -> Unreadable:
    """The error of a body that is not JSON; for a lone surrogate it names the path."""
    message = f"JSON parse error - {error}"
    if "surrogate" not in str(error):
        return Unreadable(message)
    try:
        parsed = json.loads(body)
        path = None if is_deeper_than(parsed, NESTING_LIMIT) else path_of_lone_surrogate(parsed)
    except (ValueError, RecursionError):
        return Unreadable(message)
    if path is None:
        return Unreadable(message)
    detail = "The text contains a lone surrogate (half of a character)."
    return Unreadable(f"JSON parse error - {detail}", attr="__".join(path) or None)


def _refuse_other_media(headers: Headers) -> None:
    """Accept JSON that is not compressed, and bodies without a content type."""
    content_type, encoding = headers.get("content-type", ""), headers.get("content-encoding", "")
    kind = content_type.partition(";")[0].strip().lower()
    if kind and kind != "application/json" and not kind.endswith("+json"):
        raise UnsupportedMediaType(f'Unsupported media type "{content_type}" in request.')
    if encoding.strip().lower() in ENCODINGS | UNREAD_ENCODINGS:
        detail = f"Content-Encoding {encoding[:40]} is not supported: send the body as it is."
        raise UnsupportedMediaType(detail)


async def _stream(scope: Scope, receive: Receive, limit: int) -> bytes:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > limit:
            raise _too_large(limit)
    chunks: list[bytes] = []
    size, is_complete = 0, False
    while not is_complete:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise _too_large(limit)
        chunks.append(chunk)
        is_complete = not message.get("more_body", False)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The request body is larger than {limit} bytes.")


class OpenRequests(msgspec.Struct):
    """Tracks the requests in progress by the peer's address and port.

    Concurrency: modified on the event loop only; other threads may read.
    """

    counts: dict[Peer, int] = msgspec.field(default_factory=dict)
    reading_since: dict[Peer, float] = msgspec.field(default_factory=dict)
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
        self.deadlines = _Deadlines()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        client = scope.get("client")
        if client is None:  # lifespan, or in-process calls of the console
            await self._app(scope, receive, send)
            return
        peer = (client[0], int(client[1]))  # granian gives the port as text
        self.requests.begin(peer)
        try:
            if scope["type"] == "http":
                await _Limited(self, peer, scope, receive, send).run(self._app)
            else:
                await self._app(scope, receive, send)
        finally:
            self.requests.end(peer)


class _Deadlines:
    """Expires requests whose body is incomplete at their deadline.

    All have the same time, so they expire in the order in which they began: one timer is enough.
    """

    def __init__(self) -> None:
        self._waiting: dict[_Limited, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, request: "_Limited", deadline: float) -> None:
        """Expire the request at this time of the event loop, unless it ends before."""
        self._waiting[request] = deadline
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_at(deadline, self._expire)

    def end(self, request: "_Limited") -> None:
        """Its body is complete, or not needed any more."""
        self._waiting.pop(request, None)

    def _expire(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = None
        late = loop.time() - next(iter(self._waiting.values()), loop.time())
        if late > LATE_SECONDS:  # the server was busy or stopped; the bodies may have arrived
            late += LATE_SECONDS
            self._waiting = {each: deadline + late for each, deadline in self._waiting.items()}
        for request, deadline in list(self._waiting.items()):
            if deadline > loop.time():
                self._timer = loop.call_at(deadline, self._expire)
                return
            self.end(request)
            request.expire()


class _Limited:
    """A request whose body is being received."""

    __slots__ = (
        "_answering",
        "_complete",
        "_expired",
        "_limits",
        "_peer",
        "_reading",
        "_receive",
        "_requests",
        "_scope",
        "_send",
        "_size",
        "_task",
    )

    def __init__(
        self, limits: BodyLimits, peer: Peer, scope: Scope, receive: Receive, send: Send
    ) -> None:
        self._limits = limits
        self._requests = limits.requests
        self._scope = scope
        self._peer = peer
        self._receive = receive
        self._send = send
        self._task: asyncio.Task[Any] | None = None  # waits for a part of the body
        self._size = 0
        self._reading = False  # the application has begun to read
        self._complete = False
        self._expired = False
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
            if self._reading and not self._complete:
                self._end()

    async def receive(self) -> Message:
        if self._complete:  # only the disconnect follows, at any time
            return await self._receive()
        if not self._reading:
            self._begin()
        task = self._task = asyncio.current_task()
        assert task is not None, "requests are handled in tasks"  # noqa: S101 (of asyncio)
        cancelling = task.cancelling()
        try:
            if self._expired:
                raise _too_slow(self._limits.seconds)
            message = await self._receive()
        except asyncio.CancelledError:
            if not self._expired or task.uncancel() > cancelling:
                raise
            raise _too_slow(self._limits.seconds) from None
        finally:
            self._task = None
        if self._expired:  # at the same time: the cancellation has not come yet
            await _take_back(task, cancelling)
        self._count(message)
        return message

    def expire(self) -> None:
        """The deadline has passed: stop waiting, as ``asyncio.timeout`` does."""
        self._expired = True
        if self._task is not None:
            self._task.cancel()

    def send(self, message: Message) -> Awaitable[None]:
        self._answering = True
        if message["type"] == "http.response.start" and self._leaves_a_body():
            # The server then closes the connection; unless told so, the client would send its next
            # request on it and lose it.
            others = [each for each in message["headers"] if each[0].lower() != b"connection"]
            message = {**message, "headers": [*others, (b"connection", b"close")]}
        return self._send(message)

    def _begin(self) -> None:
        self._reading = True
        now = asyncio.get_running_loop().time()
        self._requests.reading_since[self._peer] = now
        self._limits.deadlines.begin(self, now + self._limits.seconds)

    def _end(self) -> None:
        self._requests.reading_since.pop(self._peer, None)
        self._limits.deadlines.end(self)

    def _leaves_a_body(self) -> bool:
        if self._complete or self._scope.get("http_version") == "2":
            return False
        return any(
            name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
            for name, value in self._scope["headers"]
        )

    def _is_chunked(self) -> bool:
        return any(name == b"transfer-encoding" for name, _ in self._scope["headers"])

    def _count(self, message: Message) -> None:
        size = len(message.get("body", b""))
        self._size += size
        self._requests.buffered_bytes += size
        if not message.get("more_body", False):
            self._complete = True
            self._end()
        elif (
            self._size > SMALL_BODY_BYTES
            and self._requests.buffered_bytes > self._limits.buffer_bytes
        ):
            raise _no_memory()


async def _take_back(task: asyncio.Task[Any], cancelling: int) -> None:
    """Take back a cancellation of this task; in Python 3.12 it has to come first."""
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        if task.uncancel() > cancelling:
            raise


def _too_slow(seconds: float) -> HogletError:
    return RequestTimeout(f"The request body was not received within {seconds:g} seconds.")


def _malformed_chunks() -> HogletError:
    return Unreadable("The chunks of the request body are malformed, or end too early.")


def _no_memory() -> HogletError:
    return Unavailable("Too many large request bodies are being received; try again later.")
