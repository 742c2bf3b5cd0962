"""Slow request bodies: 408 in the common error format, and a memory budget for all."""

import asyncio
import itertools
import time
from typing import Any

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from hoglet.kit.errors import RequestTimeout
from hoglet.web import request_body
from hoglet.web.request_body import SMALL_BODY_BYTES, BodyLimits, OpenRequests

SCOPE = {"type": "http", "method": "POST", "path": "/", "headers": [], "client": ("10.0.0.1", 4711)}


class Client:
    """Sends parts of a body; after the last one it waits."""

    def __init__(self, *parts: bytes, complete: bool = False) -> None:
        self._parts = list(parts)
        self._complete = complete
        self.sent: list[Message] = []

    async def receive(self) -> Message:
        if self._parts:
            part = self._parts.pop(0)
            more = bool(self._parts) or not self._complete
            return {"type": "http.request", "body": part, "more_body": more}
        await asyncio.sleep(3600)
        raise AssertionError

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        return self.sent[0]["status"]


async def read_whole(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def test_a_body_that_is_complete_at_its_deadline_is_accepted() -> None:
    """The deadline passes while the last part is handed over: nothing may be cancelled later."""

    async def handle(scope: Any, receive: Any, send: Any) -> None:
        await read_whole(scope, receive, lambda _: asyncio.sleep(0))
        await asyncio.sleep(0)
        await read_whole(scope, lambda: asyncio.sleep(0, {}), send)

    limits = BodyLimits(handle, OpenRequests(), seconds=60)
    client = Client(b"{}", complete=True)

    async def receive() -> Message:
        (request,) = limits.deadlines._waiting
        request.expire()
        return await client.receive()

    await limits(SCOPE, receive, client.send)

    assert client.status == 200


async def test_a_body_that_does_not_end_is_a_408() -> None:
    limits = BodyLimits(read_whole, OpenRequests(), seconds=0.01)
    client = Client(b"{")

    await limits(SCOPE, client.receive, client.send)

    assert client.status == 408
    assert b'"code":"request_timeout"' in client.sent[1]["body"]
    assert (b"connection", b"close") in client.sent[0]["headers"]
    assert limits.requests == OpenRequests()


async def test_the_deadline_is_of_the_whole_body_not_of_its_parts() -> None:
    limits = BodyLimits(read_whole, OpenRequests(), seconds=0.3)
    client = Client(b"{")
    parts = itertools.repeat(b" ", 60)  # four times the deadline; no part takes as long as it

    async def drip() -> Message:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": next(parts), "more_body": True}

    await limits(SCOPE, drip, client.send)

    assert client.status == 408


async def test_time_in_which_the_server_is_busy_is_not_the_clients_delay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A body that arrived while the event loop stood still, longer than the deadline."""
    monkeypatch.setattr(request_body, "LATE_SECONDS", 0.1)
    limits = BodyLimits(read_whole, OpenRequests(), seconds=0.05)
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()
    client = Client(b"{}", complete=True)

    async def receive() -> Message:
        await arrived.wait()
        return await client.receive()

    def stand_still() -> None:
        time.sleep(0.2)
        loop.call_soon(arrived.set)

    running = asyncio.create_task(limits(SCOPE, receive, client.send))
    await asyncio.sleep(0.01)
    loop.call_soon(stand_still)
    await running

    assert client.status == 200


async def test_what_follows_the_body_may_take_any_time() -> None:
    async def wait_for_the_end(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(receive(), 0.05)
        await read_nothing(scope, receive, send)

    async def read_nothing(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    limits = BodyLimits(wait_for_the_end, OpenRequests(), seconds=0.01)
    client = Client(b"{}", complete=True)
    await limits(SCOPE, client.receive, client.send)

    assert client.status == 200


async def test_a_slow_body_behind_a_begun_answer_ends_the_connection() -> None:
    async def answer_first(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await receive()

    limits = BodyLimits(answer_first, OpenRequests(), seconds=0.01)
    client = Client()
    with pytest.raises(RequestTimeout):
        await limits(SCOPE, client.receive, client.send)


async def read_as_request(scope: Any, receive: Any, send: Any) -> None:
    await Request(scope, receive).body()


async def test_malformed_chunks_are_a_400_and_a_lost_client_is_none() -> None:
    async def broken() -> Message:
        return {"type": "http.disconnect"}

    limits, client = BodyLimits(read_as_request, OpenRequests()), Client()
    chunked = SCOPE | {"headers": [(b"transfer-encoding", b"chunked")]}
    await limits(chunked, broken, client.send)
    with pytest.raises(ClientDisconnect):
        await limits(SCOPE | {"headers": [(b"content-length", b"9")]}, broken, client.send)

    assert client.status == 400
    assert b'"code":"parse_error"' in client.sent[1]["body"]
    assert limits.requests == OpenRequests()


async def test_open_requests_are_known_by_their_peer_until_they_end() -> None:
    requests = OpenRequests()
    limits = BodyLimits(read_whole, requests, seconds=5)
    slow = Client(b"a" * 10)
    running = asyncio.create_task(limits(SCOPE, slow.receive, slow.send))
    await asyncio.sleep(0.01)

    assert requests.counts == {("10.0.0.1", 4711): 1}
    assert list(requests.reading_since) == [("10.0.0.1", 4711)]
    assert requests.buffered_bytes == 10

    running.cancel()
    await asyncio.wait([running])
    assert requests == OpenRequests()


@pytest.mark.parametrize(
    ("size", "budget", "status"),
    [
        (SMALL_BODY_BYTES, 1000, 200),
        (SMALL_BODY_BYTES + 1, 1000, 503),
        (SMALL_BODY_BYTES + 1, SMALL_BODY_BYTES + 1001, 200),
    ],
)
async def test_only_large_bodies_are_refused_for_want_of_memory(
    size: int, budget: int, status: int
) -> None:
    requests = OpenRequests(buffered_bytes=1000)
    limits = BodyLimits(read_whole, requests, buffer_bytes=budget)
    client = Client(b"x" * size, b"x", complete=True)

    await limits(SCOPE, client.receive, client.send)

    assert client.status == status
    assert requests.buffered_bytes == 1000


@pytest.mark.parametrize(
    ("headers", "version", "closes"),
    [
        ([(b"content-length", b"70000")], "1.1", True),
        ([(b"transfer-encoding", b"chunked")], "1.1", True),
        ([(b"content-length", b"0")], "1.1", False),
        ([], "1.1", False),
        ([(b"content-length", b"70000")], "2", False),  # a stream ends alone
    ],
)
async def test_an_answer_without_the_body_says_that_the_connection_ends(
    headers: list[tuple[bytes, bytes]], version: str, *, closes: bool
) -> None:
    async def refuse(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": []})

    client = Client(b"x")
    scope = SCOPE | {"headers": headers, "http_version": version}
    await BodyLimits(refuse, OpenRequests())(scope, client.receive, client.send)

    assert ((b"connection", b"close") in client.sent[0]["headers"]) == closes


async def test_an_answer_to_a_whole_body_keeps_the_connection() -> None:
    client = Client(b"{}", complete=True)
    scope = SCOPE | {"headers": [(b"content-length", b"2")]}
    await BodyLimits(read_whole, OpenRequests())(scope, client.receive, client.send)

    assert client.sent[0]["headers"] == []


async def test_calls_inside_the_process_have_no_peer() -> None:
    limits = BodyLimits(read_whole, OpenRequests(), seconds=0.01)
    client = Client(b"{}", complete=True)

    await limits(SCOPE | {"client": None}, client.receive, client.send)

    assert client.status == 200
