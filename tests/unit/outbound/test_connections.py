"""What the client writes and reads on its connections, against a server of scripted bytes."""

import asyncio
import gzip
from collections.abc import AsyncGenerator

import pytest

from hoglet.outbound.client import Outbound
from hoglet.outbound.port import OutboundRequest, OutboundResponse

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class ScriptedServer:
    """Sends the next response to each request; None closes the connection instead."""

    def __init__(self, *responses: bytes | None) -> None:
        self.responses = list(responses)
        self.connections = 0
        self.requests: list[bytes] = []
        self._writers: list[asyncio.StreamWriter] = []

    def close(self) -> None:
        """Close the connections that clients keep."""
        for writer in self._writers:
            writer.close()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int((head.lower() + b"content-length:0").split(b"content-length:")[1][:3])
                self.requests.append(head + await reader.readexactly(length))
                response = self.responses.pop(0)
                if response is None:
                    break
                writer.write(response)
        except asyncio.IncompleteReadError:
            pass
        writer.close()


@pytest.fixture
async def outbound() -> AsyncGenerator[Outbound]:
    async with Outbound(allow_hosts=["127.0.0.1"], response_bytes=4000) as outbound:
        yield outbound


async def fetch_all(
    outbound: Outbound, server: ScriptedServer, *requests: OutboundRequest
) -> list[tuple[int, bytes] | str]:
    """``(status, body)`` of each response, or the text of the failure."""
    results: list[tuple[int, bytes] | str] = []
    async with await asyncio.start_server(server, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        for request in requests:
            url = f"http://127.0.0.1:{port}{request.url}"
            sent = OutboundRequest(url, request.method, request.headers, request.body)
            result = await outbound.fetch(sent, 2)
            if isinstance(result, OutboundResponse):
                results.append((result.status, result.body))
            else:
                results.append(result.text)
        server.close()
    return results


GET = OutboundRequest("/")
POST = OutboundRequest("/", "POST", {"Content-Type": "text/plain"}, b"body")


async def test_connections_are_used_again(outbound: Outbound) -> None:
    server = ScriptedServer(OK, OK, OK)

    assert await fetch_all(outbound, server, POST, GET, POST) == [(200, b"ok")] * 3
    assert server.connections == 1
    assert server.requests[0].startswith(b"POST / HTTP/1.1\r\nHost: 127.0.0.1:")
    assert server.requests[0].endswith(b"\r\n\r\nbody")


async def test_a_connection_with_an_unread_response_is_not_used_again(outbound: Outbound) -> None:
    large = b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n" + b"x" * 5000
    closing = OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    server = ScriptedServer(large, closing, OK)

    results = await fetch_all(outbound, server, GET, GET, GET)

    assert results[1:] == [(200, b"ok"), (200, b"ok")]
    assert server.connections == 3


async def test_only_repeatable_requests_are_repeated_on_a_stale_connection(
    outbound: Outbound,
) -> None:
    server = ScriptedServer(OK, None, OK, None)

    results = await fetch_all(outbound, server, GET, GET, POST)

    assert results[:2] == [(200, b"ok"), (200, b"ok")]
    assert results[2] == "ConnectionError: Server disconnected"
    assert len(server.requests) == 4


async def test_a_repeatable_request_is_repeated_once(outbound: Outbound) -> None:
    server = ScriptedServer(None, None, OK)

    assert await fetch_all(outbound, server, GET) == ["ConnectionError: Server disconnected"]
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n" + OK, (200, b"ok")),
        (b"HTTP/1.1 204 No Content\r\n\r\n", (204, b"")),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            (200, b"ok"),
        ),
    ],
    ids=["informational", "empty", "chunked"],
)
async def test_framing_of_responses(
    outbound: Outbound, response: bytes, expected: tuple[int, bytes]
) -> None:
    server = ScriptedServer(response, OK)

    assert await fetch_all(outbound, server, POST, POST) == [expected, (200, b"ok")]
    assert server.connections == 1


NO_CONTENT = b"HTTP/1.1 204 No Content\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (OK + b"trailing", (200, b"ok")),
        (OK + b"\x00" * 50_000, (200, b"ok")),
        (CHUNKED + b"x", (200, b"ok")),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n" + OK + b"x", (200, b"ok")),
        (NO_CONTENT + b"Content-Length: 5\r\n\r\nhello", (204, b"")),
        (NO_CONTENT + b"\r\n<html>", (204, b"")),
        (b"HTTP/1.1 503 X\r\nContent-Length: 4\r\n\r\ndowntrailing", (503, b"down")),
    ],
    ids=str,
)
async def test_what_follows_a_response_does_not_undo_it(
    outbound: Outbound, response: bytes, expected: tuple[int, bytes]
) -> None:
    """The target has answered: a failure would deliver once more."""
    server = ScriptedServer(response, OK)
    assert await fetch_all(outbound, server, POST, POST) == [expected, (200, b"ok")]
    assert server.connections == 2


async def test_a_body_after_no_content_is_not_taken_for_the_next_response(
    outbound: Outbound,
) -> None:
    server = ScriptedServer(NO_CONTENT + b"Content-Length: 2\r\n\r\n", OK)
    assert await fetch_all(outbound, server, POST, POST) == [(204, b""), (200, b"ok")]
    assert server.connections == 2


@pytest.mark.parametrize(
    "headers", [b"Content-Security-Policy: %s\r\n" % (b"x" * 60_000), b"X-A: 1\r\n" * 900]
)
async def test_large_headers_are_read(outbound: Outbound, headers: bytes) -> None:
    response = OK.replace(b"Content-Length", headers + b"Content-Length")
    server = ScriptedServer(response, OK)
    assert await fetch_all(outbound, server, POST, POST) == [(200, b"ok")] * 2


async def test_a_response_to_head_has_no_body(outbound: Outbound) -> None:
    server = ScriptedServer(OK.removesuffix(b"ok"), OK)

    results = await fetch_all(outbound, server, OutboundRequest("/", "HEAD"), GET)

    assert results == [(200, b""), (200, b"ok")]


@pytest.mark.parametrize("response", [b"no HTTP at all\r\n\r\n", b"HTTP/1.1 2OO OK\r\n\r\n"])
async def test_malformed_responses_are_failures_that_do_not_show_the_url(
    outbound: Outbound, response: bytes
) -> None:
    secret = OutboundRequest("/?token=secret", "POST", {}, b"")

    [text] = await fetch_all(outbound, ScriptedServer(response), secret)

    assert isinstance(text, str)
    assert text.startswith("ProtocolError: the response is malformed: ")
    assert "secret" not in text


async def test_programs_replace_default_headers_in_any_case(outbound: Outbound) -> None:
    server = ScriptedServer(OK)
    headers = {"user-AGENT": "mine", "ACCEPT": "text/csv", "X-A": "1", "x-a": "2"}

    await fetch_all(outbound, server, OutboundRequest("/", "GET", headers))

    lines = server.requests[0].decode().split("\r\n")
    assert {"user-AGENT: mine", "ACCEPT: text/csv", "x-a: 2"} <= set(lines)
    names = [line.partition(":")[0].lower() for line in lines[1:-2]]
    assert sorted(names) == ["accept", "accept-encoding", "host", "user-agent", "x-a"]


async def test_a_line_break_in_a_header_is_never_sent(outbound: Outbound) -> None:
    server = ScriptedServer()
    request = OutboundRequest("/", "POST", {"X": "a\r\nInjected: b"}, b"")

    [text] = await fetch_all(outbound, server, request)

    assert "InvalidRequest" in str(text)
    assert server.requests == []


@pytest.mark.parametrize("compressed", [b"chunked", b"length"])
async def test_a_truncated_compressed_body_is_a_failure(
    outbound: Outbound, compressed: bytes
) -> None:
    """The target stopped in the middle: an empty success would lose the delivery."""
    packed = gzip.compress(b'{"accepted": true}')[:-9]
    framing = {
        b"chunked": b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0" % (len(packed), packed),
        b"length": b"Content-Length: %d\r\n\r\n%b" % (len(packed), packed),
    }
    end = b"\r\n\r\n" if compressed == b"chunked" else b""
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
    server = ScriptedServer(head + framing[compressed] + end)

    [result] = await fetch_all(outbound, server, POST)

    assert result == ("ProtocolError: the response is malformed: The compressed body is truncated.")


@pytest.mark.parametrize("status", [b"101 Switching Protocols", b"000 Nothing", b"099 Odd"])
async def test_a_status_that_is_no_response_is_a_failure(outbound: Outbound, status: bytes) -> None:
    server = ScriptedServer(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n")

    [result] = await fetch_all(outbound, server, POST)

    assert result == (
        f"ProtocolError: the response is malformed: its status is {status[:3].decode()}"
    )
