"""Compresses responses when the client asks for it: zstd, brotli or gzip.

Text of 1 KB or more is compressed; streams are compressed part by part. Parts larger than 32 KB are
compressed in a thread (the compressors release the interpreter lock), so the event loop is blocked
for a millisecond at most. Media types that are already compressed, server-sent events (which
clients read line by line), ranges, and responses that the handler encoded are sent unchanged.

ETags become weak, because the bytes differ by encoding; ``Vary`` tells caches so.

Rejected: Starlette's ``GZipMiddleware``: gzip only, and a response of 20 MB blocks the event loop
for a second.
"""

import asyncio
import sys
import zlib
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Protocol

import brotli
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MIN_BYTES = 1000  # smaller responses fit into one packet anyway
INLINE_BYTES = 32 * 1024  # up to this size, no compressor takes longer than a millisecond
PART_BYTES = 1024 * 1024  # large bodies are split, so that they are not in memory twice
_GZIP = zlib.MAX_WBITS | 16
# Levels chosen by time: 1 MB of event rows takes 10 ms (zstd), 18 ms (brotli) or 20 ms (gzip) and
# shrinks to a quarter. Higher levels take two to ten times as long to save a few percent more.
_ZSTD_LEVEL, _BROTLI_QUALITY, _GZIP_LEVEL = 3, 4, 2
_COMPRESSIBLE = frozenset(
    {
        "application/javascript",
        "application/json",
        "application/vnd.apache.arrow.stream",  # its buffers are not compressed
        "application/wasm",
        "application/x-ndjson",
        "application/xml",
        "application/yaml",
        "font/ttf",
    }
)
_COMPRESSIBLE_ENDINGS = ("+json", "+xml")
_SEND_FILE = "http.response.pathsend"
_EVENT_STREAM = "text/event-stream"


class _Compressor(Protocol):
    def compress(self, part: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...

    def finish(self) -> bytes: ...


class _Gzip:
    def __init__(self) -> None:
        self._inner = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP)
        self.compress = self._inner.compress

    def flush(self) -> bytes:
        return self._inner.flush(zlib.Z_SYNC_FLUSH)

    def finish(self) -> bytes:
        return self._inner.flush()


class _Brotli:
    def __init__(self) -> None:
        self._inner = brotli.Compressor(quality=_BROTLI_QUALITY)
        self.compress: Callable[[bytes], bytes] = self._inner.process

    def flush(self) -> bytes:
        return self._inner.flush()

    def finish(self) -> bytes:
        return self._inner.finish()


class _Zstd:
    def __init__(self) -> None:
        self._inner = zstd.ZstdCompressor(_ZSTD_LEVEL)

    def compress(self, part: bytes, /) -> bytes:
        return self._inner.compress(part)

    def flush(self) -> bytes:
        return self._inner.flush(zstd.ZstdCompressor.FLUSH_BLOCK)

    def finish(self) -> bytes:
        return self._inner.flush()


# In order of preference: most compression for the time, measured on event rows.
_COMPRESSORS: dict[str, Callable[[], _Compressor]] = {
    "zstd": _Zstd,
    "br": _Brotli,
    "gzip": _Gzip,
}


@lru_cache(maxsize=256)
def choose_encoding(accept: str) -> str | None:
    """The encoding with the highest weight in ``Accept-Encoding``; None for no compression.

    Example:
        >>> choose_encoding("gzip, deflate, br;q=0.5"), choose_encoding("*;q=0, identity")
        ('gzip', None)
    """
    weights: dict[str, float] = {}
    for item in accept.lower().split(","):
        name, _, parameters = item.partition(";")
        weights[name.strip()] = _weight(parameters)
    weights["gzip"] = weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0)))
    least = weights.get("identity", 0.0)
    best = max(_COMPRESSORS, key=lambda name: weights.get(name, 0.0))
    weight = weights.get(best, 0.0)
    return best if weight > 0 and weight >= least else None


def _weight(parameters: str) -> float:
    """``q=0.5`` as 0.5; 1 if omitted, 0 if invalid."""
    name, _, value = parameters.partition("=")
    if not name.strip():
        return 1.0
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0


class Compression:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._threads = ThreadPoolExecutor(2, "compress")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        accept = b",".join(
            [value for name, value in scope["headers"] if name == b"accept-encoding"]
        )
        encoding = choose_encoding(accept.decode("latin-1")) if accept else None
        if scope["method"] == "HEAD":
            encoding = None
        extensions = scope.get("extensions") or {}
        if encoding is not None and _SEND_FILE in extensions:
            # The server would otherwise send files itself, uncompressed.
            scope["extensions"] = {
                name: extensions[name] for name in extensions.keys() - {_SEND_FILE}
            }
        if encoding is None:
            await self._app(scope, receive, _unchanged(send))
        else:
            await self._app(scope, receive, _Response(send, encoding, self._threads).send)


class _Response:
    """One response being sent."""

    __slots__ = ("_compressor", "_encoding", "_is_decided", "_send", "_start", "_threads")

    def __init__(self, send: Send, encoding: str, threads: ThreadPoolExecutor) -> None:
        self._send = send
        self._encoding = encoding
        self._threads = threads
        self._start: Message | None = None
        self._compressor: _Compressor | None = None
        self._is_decided = False

    async def send(self, message: Message) -> None:
        if self._is_decided:
            if self._compressor is None or message["type"] != "http.response.body":
                await self._send(message)
            else:
                await self._send_compressed(self._compressor, message)
        elif message["type"] == "http.response.start":
            await self._begin(message)
        else:
            await self._decide(message)

    async def _begin(self, start: Message) -> None:
        if _note_choice(start):
            self._start = start  # held back until the first part of the body reveals its size
            return
        self._is_decided = True
        await self._send(start)

    async def _decide(self, message: Message) -> None:
        start = self._start
        assert start is not None, "a response starts before its body"  # noqa: S101 (of ASGI)
        self._is_decided = True
        is_whole = not message.get("more_body", False)
        if is_whole and len(message.get("body", b"")) < MIN_BYTES:
            await self._send(start)
            await self._send(message)
            return
        encoding = self._encoding
        headers = MutableHeaders(scope=start)
        headers["Content-Encoding"] = encoding
        del headers["Content-Length"]
        etag = headers.get("ETag")
        if etag and not etag.startswith("W/"):
            headers["ETag"] = f"W/{etag}"
        compressor = self._compressor = _COMPRESSORS[encoding]()
        if is_whole and len(message["body"]) <= INLINE_BYTES:
            body = compressor.compress(message["body"]) + compressor.finish()
            headers["Content-Length"] = str(len(body))
            await self._send(start)
            await self._send({"type": "http.response.body", "body": body})
            return
        await self._send(start)
        await self._send_compressed(compressor, message)

    async def _send_compressed(self, compressor: _Compressor, message: Message) -> None:
        """Compress and send one part of the body before the next one arrives."""
        body = message.get("body", b"")
        more = message.get("more_body", False)
        for start in range(0, max(1, len(body)), PART_BYTES):
            part = body[start : start + PART_BYTES]
            is_last = start + PART_BYTES >= len(body)
            end = _nothing if not is_last else compressor.flush if more else compressor.finish
            out = await self._work(compressor, part, end)
            if out or (is_last and not more):
                has_more = more or not is_last
                await self._send({"type": "http.response.body", "body": out, "more_body": has_more})

    async def _work(self, compressor: _Compressor, part: bytes, end: Callable[[], bytes]) -> bytes:
        if len(part) <= INLINE_BYTES:
            return compressor.compress(part) + end()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: compressor.compress(part) + end())


def _unchanged(send: Send) -> Send:
    """Send a response as it is, but tell caches that it might have been compressed."""

    def sender(message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            _note_choice(message)
        return send(message)

    return sender


def _note_choice(start: Message) -> bool:
    """Whether the response may be compressed; then, and for 304, ``Vary`` says so."""
    values: dict[bytes, bytes] = dict(start["headers"])
    may_be_compressed = _may_be_compressed(start["status"], values)
    if may_be_compressed or start["status"] == 304:
        _vary(start, values)
    return may_be_compressed


def _vary(start: Message, values: Mapping[bytes, bytes]) -> None:
    """Name ``Accept-Encoding`` in the ``Vary`` of a response."""
    known = values.get(b"vary")
    if known is None:
        start["headers"] = [*start["headers"], (b"vary", b"Accept-Encoding")]
    elif b"accept-encoding" not in known.lower():
        MutableHeaders(scope=start).add_vary_header("Accept-Encoding")


def _nothing() -> bytes:
    return b""


@lru_cache(maxsize=256)
def _is_compressible(content_type: bytes) -> bool:
    kind = content_type.decode("latin-1").partition(";")[0].strip().lower()
    return kind != _EVENT_STREAM and _is_text(kind)


def _is_text(kind: str) -> bool:
    return kind.startswith("text/") or kind in _COMPRESSIBLE or kind.endswith(_COMPRESSIBLE_ENDINGS)


def _may_be_compressed(status: int, values: Mapping[bytes, bytes]) -> bool:
    if status < 200 or status in {204, 206, 304} or b"content-encoding" in values:
        return False
    length = values.get(b"content-length", b"")
    if length.isdigit() and int(length) < MIN_BYTES:
        return False
    if not _is_compressible(values.get(b"content-type", b"")):
        return False
    return b"no-transform" not in values.get(b"cache-control", b"").lower()
