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
from dataclasses import dataclass, field
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hoglet.kit.errors import (
    HogletError,
    Invalid,
    RequestTimeout,
    TooLarge,
    Unavailable,
    Unreadable,
    UnsupportedMediaType,
)
from hoglet.kit.json import is_deeper_than
from hoglet.web.error_handlers import problem
from hoglet.web.validation import not_a_dict

# docs/spec/hog-functions.md#12-errors-keys-rate-limits; create_application passes the setting
DEFAULT_BODY_BYTES = 20 * 1024 * 1024
NESTING_LIMIT = (
    128  # orjson parses 1024 levels but serializes only 254; stored values must be serializable
)
_BODY = "hoglet.body"
_JSON = "hoglet.json"
BODY_KEY = "personal_api_key"  # may carry the caller's key (hoglet.access.auth); never a field


async def read_body(request: Request, *, limit_bytes: int | None = None) -> bytes:
    """The raw body; read once per request and cached for both authorization and the handler.

    Raises:
        TooLarge: more than ``limit_bytes`` (default: the application's ``body_limit_bytes``).
    """
    retained: bytes | None = request.scope.get(_BODY)
    if retained is not None:
        return retained
    limit = limit_bytes or getattr(request.app.state, "body_limit_bytes", DEFAULT_BODY_BYTES)
    body = await _stream(request, limit)
    request.scope[_BODY] = body
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
        refuse_other_media(request.headers.get("content-type"))
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
        path = None if is_deeper_than(parsed, NESTING_LIMIT) else _path_of_half_character(parsed)
    except (ValueError, RecursionError):
        return Unreadable(message)
    if path is None:
        return Unreadable(message)
    detail = "The text contains a lone surrogate (half of a character)."
    return Unreadable(f"JSON parse error - {detail}", attr="__".join(path) or None)


def _path_of_half_character(value: Any) -> list[str] | None:
    """Path of the first string with a lone surrogate, e.g. ``["inputs", "url"]``; else None."""
    match value:
        case str():
            return [] if is_half_character_in(value) else None
        case dict():
            items: dict[str, Any] = value
            pairs = items.items()
        case list():
            pairs = [(str(index), item) for index, item in enumerate(value)]
        case _:
            return None
    for name, item in pairs:
        if is_half_character_in(name):
            return []
        path = _path_of_half_character(item)
        if path is not None:
            return [name, *path]
    return None


def is_half_character_in(text: str) -> bool:
    """Whether a text contains a surrogate without its other half."""
    return any("\ud800" <= char <= "\udfff" for char in text)


def refuse_other_media(content_type: str | None) -> None:
    """Accept JSON, and bodies without a content type.

    Raises:
        UnsupportedMediaType: the content type is anything else.
    """
    kind = (content_type or "").partition(";")[0].strip().lower()
    if kind and kind != "application/json" and not kind.endswith("+json"):
        raise UnsupportedMediaType(f'Unsupported media type "{content_type}" in request.')


async def _stream(request: Request, limit: int) -> bytes:
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise _too_large(limit)
    chunks: list[bytes] = []
    size, is_complete = 0, False
    while not is_complete:
        message = await request.receive()
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
