"""What is compressed, how, and what is not; streams stay streams."""

import asyncio
import gzip
import zlib
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import brotli
import httpx
import pytest
from backports import zstd
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message

from hoglet.web.app import create_application
from hoglet.web.response_compression import (
    INLINE_BYTES,
    MIN_BYTES,
    PART_BYTES,
    Compression,
    choose_encoding,
)

TEXT = b'{"event": "\xc3\xa9", "n": 1},' * 100
DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.decompress,
    "br": brotli.decompress,
    "zstd": zstd.decompress,
}


class Sent:
    """What an application sends through the middleware."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def send(self, message: Message) -> None:
        self.messages.append(message)

    @property
    def headers(self) -> httpx.Headers:
        return httpx.Headers(self.messages[0]["headers"])

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.messages[1:])


async def sent_by(
    response: Response, accept: str | None = "gzip", method: str = "GET", **more: Any
) -> Sent:
    sent = Sent()
    headers = [] if accept is None else [(b"accept-encoding", accept.encode())]
    scope = {"type": "http", "method": method, "path": "/", "headers": headers, **more}

    async def receive() -> Message:
        await asyncio.sleep(3600)
        raise AssertionError

    await Compression(response)(scope, receive, sent.send)
    return sent


@pytest.mark.parametrize("encoding", DECODERS)
@pytest.mark.parametrize(
    "size", [MIN_BYTES, INLINE_BYTES, INLINE_BYTES + 1, PART_BYTES, 2 * PART_BYTES + 1]
)
async def test_every_size_comes_out_as_it_was(encoding: str, size: int) -> None:
    body = (TEXT * (size // len(TEXT) + 1))[:size]

    sent = await sent_by(Response(body, media_type="application/json"), encoding)

    assert sent.headers["content-encoding"] == encoding
    assert sent.headers["vary"] == "Accept-Encoding"
    assert sent.headers.get("content-length", str(len(sent.body))) == str(len(sent.body))
    assert len(sent.body) < size / 2
    assert DECODERS[encoding](sent.body) == body
    assert [message.get("more_body", False) for message in sent.messages[1:]][-1] is False


@pytest.mark.parametrize(
    ("accept", "encoding"),
    [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate, br", "br"),
        ("gzip, deflate", "gzip"),
        ("GZIP", "gzip"),
        ("x-gzip", "gzip"),
        ("*", "gzip"),
        ("br;q=0.5, gzip;q=0.9", "gzip"),
        ("gzip;q=0, br", "br"),
        ("gzip;q=0, *", None),
        ("zstd ; q=0.1 , gzip ; q=0.1", "zstd"),
        ("identity", None),
        ("identity, gzip;q=0.5", None),
        ("identity;q=0.5, gzip", "gzip"),
        ("gzip;q=0", None),
        ("gzip;q=0.000", None),
        ("gzip;q=much", None),
        ("gzip;q=nan", None),
        ("deflate", None),
        ("", None),
        (",,;;==", None),
        ("é\x00", None),
    ],
)
def test_the_clients_weights_decide(accept: str, encoding: str | None) -> None:
    assert choose_encoding(accept) == encoding


@pytest.mark.parametrize(
    "response",
    [
        Response(TEXT[: MIN_BYTES - 1], media_type="application/json"),
        Response(TEXT, media_type="text/event-stream"),
        Response(TEXT, media_type="image/png"),
        Response(TEXT, media_type="font/woff2"),
        Response(TEXT, media_type="application/vnd.apache.parquet"),
        Response(TEXT),
        Response(TEXT, media_type="text/css", headers={"Content-Encoding": "br"}),
        Response(TEXT, media_type="text/css", headers={"Cache-Control": "no-transform"}),
        Response(TEXT, 206, media_type="text/css", headers={"Content-Range": "bytes 0-1/9"}),
        Response(status_code=204),
    ],
)
async def test_the_rest_is_sent_as_it_is(response: Response) -> None:
    before = dict(response.headers)

    sent = await sent_by(response, "gzip, br, zstd")

    assert dict(sent.headers) == before
    assert sent.body == response.body


@pytest.mark.parametrize("accept", [None, "deflate", "gzip;q=0"])
async def test_who_cannot_read_it_gets_it_plain(accept: str | None) -> None:
    sent = await sent_by(Response(TEXT, media_type="text/html"), accept)

    assert "content-encoding" not in sent.headers
    assert (sent.headers["vary"], sent.body) == ("Accept-Encoding", TEXT)


async def test_head_has_no_body_to_compress() -> None:
    sent = await sent_by(Response(TEXT, media_type="text/html"), method="HEAD")

    assert sent.headers["content-length"] == str(len(TEXT))
    assert sent.headers["vary"] == "Accept-Encoding"


async def test_etags_become_weak_and_vary_is_kept() -> None:
    headers = {"ETag": '"abc"', "Vary": "Accept"}
    sent = await sent_by(Response(TEXT, media_type="text/css", headers=headers))
    plain = await sent_by(Response(TEXT, media_type="text/css", headers=headers), None)
    weak = await sent_by(Response(TEXT, media_type="text/css", headers={"ETag": 'W/"abc"'}))
    unchanged = await sent_by(Response(status_code=304, headers={"ETag": '"abc"'}))

    assert (sent.headers["etag"], sent.headers["vary"]) == ('W/"abc"', "Accept, Accept-Encoding")
    assert plain.headers["etag"] == '"abc"'
    assert weak.headers["etag"] == 'W/"abc"'
    assert unchanged.headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in unchanged.headers


@pytest.mark.parametrize("encoding", DECODERS)
async def test_each_part_of_a_stream_can_be_read_when_it_comes(encoding: str) -> None:
    parts = [b"first\n", b"", b"x" * (INLINE_BYTES + 1), b"last\n"]
    seen: list[bytes] = []
    unpacking = brotli.Decompressor()
    readers: dict[str, Callable[[bytes], bytes]] = {
        "gzip": zlib.decompressobj(zlib.MAX_WBITS | 16).decompress,
        "br": lambda data: unpacking.process(data) + unpacking.process(b""),
        "zstd": zstd.ZstdDecompressor().decompress,
    }

    async def stream() -> AsyncGenerator[bytes]:
        for number, part in enumerate(parts):
            assert b"".join(seen) == b"".join(parts[:number])  # all earlier parts have arrived
            yield part

    class Reading(Sent):
        async def send(self, message: Message) -> None:
            await super().send(message)
            if message["type"] == "http.response.body" and message["body"]:
                seen.append(readers[encoding](message["body"]))

    reading = Reading()
    scope = {
        "type": "http",
        "method": "GET",
        "headers": [(b"accept-encoding", encoding.encode())],
        "asgi": {"spec_version": "2.4"},
    }
    response = StreamingResponse(stream(), media_type="application/x-ndjson")
    await Compression(response)(scope, asyncio.Event().wait, reading.send)

    assert "content-length" not in reading.headers
    assert b"".join(seen) == b"".join(parts)


async def test_large_bodies_leave_the_event_loop_free() -> None:
    body = TEXT * (20 * PART_BYTES // len(TEXT))
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await sent_by(Response(body, media_type="text/csv"))
    counting.cancel()

    assert turns > 100  # in the loop it would be one for each part


async def test_the_application_compresses() -> None:
    async def large(_: Request) -> Response:
        return Response(TEXT, media_type="text/csv")

    app = create_application(routes=[Route("/large", large)])
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://hoglet.test") as client:
        answer = await client.get("/large")
        small = await client.get("/_health")

    assert answer.headers["content-encoding"] in DECODERS
    assert answer.content == TEXT
    assert "content-encoding" not in small.headers


async def test_files_are_compressed_too(tmp_path: Path) -> None:
    """Starlette would leave them to the server, which sends them as they are."""
    file = tmp_path / "a.css"
    file.write_bytes(TEXT * 100)
    extensions = {"http.response.pathsend": {}}
    scope = {"extensions": extensions, "headers": [(b"accept-encoding", b"gzip")]}

    sent = await sent_by(FileResponse(file), **scope)
    plain = await sent_by(FileResponse(file), None, extensions=extensions)

    assert gzip.decompress(sent.body) == file.read_bytes()
    assert sent.headers["etag"].startswith('W/"')
    assert plain.messages[1] == {"type": "http.response.pathsend", "path": str(file)}


async def test_vary_is_said_once() -> None:
    headers = {"Vary": "accept-encoding"}
    sent = await sent_by(Response(TEXT, media_type="text/css", headers=headers))

    assert sent.headers["vary"] == "accept-encoding"
