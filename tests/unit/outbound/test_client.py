"""The client against real servers on localhost."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from hoglet.outbound.client import Outbound
from hoglet.outbound.port import (
    NetworkFailure,
    OutboundRequest,
    OutboundResponse,
    RequestRefused,
)
from support.certificates import self_signed

LOCAL = ["127.0.0.1"]


class Target:
    """A server that records what it is asked."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.port = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.seen.append((request.method, request.path_qs, headers, body))
        match request.path:
            case "/redirect":
                raise web.HTTPFound("/secret")
            case "/slow":
                await asyncio.sleep(30)
            case "/trickle":
                return await self.trickle(request)
            case "/reset":
                assert request.transport is not None
                request.transport.abort()
            case "/big":
                return web.Response(body=b"x" * 5000)
            case "/bomb":
                packed = gzip.compress(b"0" * 3_000_000)
                return web.Response(body=packed, headers={"Content-Encoding": "gzip"})
            case "/teapot":
                return web.Response(status=418, text="short", headers={"Retry-After": "7"})
            case _:
                pass
        return web.Response(text="hello")

    async def trickle(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(100):
            await response.write(b".")
            await asyncio.sleep(0.1)
        return response

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"


@pytest.fixture
async def target() -> AsyncGenerator[Target]:
    target = Target()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", target.handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    target.port = runner.addresses[0][1]
    yield target
    await runner.cleanup()


@pytest.fixture
async def outbound() -> AsyncGenerator[Outbound]:
    async with Outbound(allow_hosts=LOCAL, response_bytes=4000) as outbound:
        yield outbound


async def test_a_request_goes_out_as_given(target: Target, outbound: Outbound) -> None:
    request = OutboundRequest(
        target.url("/a?b=c"), "POST", {"X-One": "1", "Content-Type": "text/x"}, b"body"
    )

    response = await outbound.fetch(request)

    assert isinstance(response, OutboundResponse)
    assert (response.status, response.body) == (200, b"hello")
    method, path, headers, body = target.seen[0]
    assert (method, path, body) == ("POST", "/a?b=c", b"body")
    assert headers["x-one"] == "1"
    assert headers["content-type"] == "text/x"
    assert headers["user-agent"] == "hoglet"


async def test_framing_headers_cannot_be_forged(target: Target, outbound: Outbound) -> None:
    forged = {"Content-Length": "2", "Transfer-Encoding": "chunked", "Host": "evil.example"}

    await outbound.fetch(OutboundRequest(target.url("/"), "POST", forged, b"four"))

    _, _, headers, body = target.seen[0]
    assert body == b"four"
    assert headers["content-length"] == "4"
    assert headers["host"] == f"127.0.0.1:{target.port}"


async def test_any_status_is_an_answer_with_headers(target: Target, outbound: Outbound) -> None:
    response = await outbound.fetch(OutboundRequest(target.url("/teapot")))

    assert isinstance(response, OutboundResponse)
    assert (response.status, response.headers["retry-after"]) == (418, "7")


async def test_redirects_are_not_followed(target: Target, outbound: Outbound) -> None:
    response = await outbound.fetch(OutboundRequest(target.url("/redirect")))

    assert isinstance(response, OutboundResponse)
    assert response.status == 302
    assert [path for _, path, _, _ in target.seen] == ["/redirect"]


@pytest.mark.parametrize("path", ["/slow", "/trickle"])
async def test_the_timeout_covers_the_whole_answer(
    target: Target, outbound: Outbound, path: str
) -> None:
    started = asyncio.get_running_loop().time()

    result = await outbound.fetch(OutboundRequest(target.url(path)), 0.3)

    assert isinstance(result, NetworkFailure)
    assert result.name == "TimeoutError"
    assert asyncio.get_running_loop().time() - started < 2


async def test_a_reset_and_a_closed_port_are_network_failures(
    target: Target, outbound: Outbound
) -> None:
    reset = await outbound.fetch(OutboundRequest(target.url("/reset")))
    closed = await outbound.fetch(OutboundRequest("http://127.0.0.1:1/"))

    assert isinstance(reset, NetworkFailure)
    assert isinstance(closed, NetworkFailure)
    assert closed.text.startswith("ConnectionError: ")


@pytest.mark.parametrize("path", ["/big", "/bomb"])
async def test_a_large_answer_is_cut(target: Target, outbound: Outbound, path: str) -> None:
    result = await outbound.fetch(OutboundRequest(target.url(path)))

    assert isinstance(result, RequestRefused)
    assert result.name == "ResponseTooLarge"


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "LOCALHOST",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0x7f.1",
        "0",
        "0.0.0.0",  # noqa: S104 (an address to refuse)
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "224.0.0.1",
        "127.0.0.1.",
        "user:word@127.0.0.1",
        "①②⑦.⓪.⓪.①",
    ],
)
async def test_private_targets_are_refused(target: Target, host: str) -> None:
    async with Outbound() as strict:
        result = await strict.fetch(OutboundRequest(target.url("/", host)))

    assert isinstance(result, RequestRefused), result
    assert result.name in {"HostNotAllowed", "InvalidUrl"}
    assert target.seen == []


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.com/",
        "gopher://127.0.0.1/",
        "//example.com",
        "example.com",
        "",
        "http://",
        "http:///path",
        "http://exa mple.com/",
        "http://example.com:99999/",
        "http://[::1/",
        "http://" + "a" * 20_000,
        "http://\x00/",
        "https://" + "a." * 200 + "com",
    ],
)
async def test_bad_urls_are_refused_or_fail_but_never_raise(url: str) -> None:
    async def resolve(_host: str) -> list[str]:
        raise OSError("no such host")

    async with Outbound(resolve=resolve) as strict:
        result = await strict.fetch(OutboundRequest(url))

    assert isinstance(result, RequestRefused | NetworkFailure)


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("GET / HTTP/1.1\r\nX: y", {}),
        ("CONNECT", {}),
        ("", {}),
        ("GET", {"X\r\nY": "1"}),
        ("GET", {"X": "1\r\nY: 2"}),
        ("GET", {"": "1"}),
    ],
)
async def test_requests_cannot_be_smuggled(
    target: Target, outbound: Outbound, method: str, headers: dict[str, str]
) -> None:
    result = await outbound.fetch(OutboundRequest(target.url("/"), method, headers))

    assert isinstance(result, RequestRefused), result
    assert result.name == "InvalidRequest"
    assert target.seen == []


async def test_a_name_that_resolves_to_a_private_address_is_refused(target: Target) -> None:
    async def resolve(_host: str) -> list[str]:
        return ["127.0.0.1", "10.0.0.1", "::1"]

    async with Outbound(resolve=resolve) as strict:
        result = await strict.fetch(OutboundRequest(target.url("/", "public.example")))

    assert isinstance(result, RequestRefused)
    assert result.name == "HostNotAllowed"
    assert "public.example" in result.message
    assert target.seen == []


async def test_private_addresses_of_a_mixed_name_are_left_out(target: Target) -> None:
    """127.0.0.2 would answer too (the server's port is open there on Linux); it is not tried."""

    async def resolve(_host: str) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]

    async with Outbound(allow_hosts=LOCAL, resolve=resolve) as outbound:
        result = await outbound.fetch(OutboundRequest(target.url("/", "mixed.example")))

    assert isinstance(result, OutboundResponse)


async def test_the_checked_address_is_the_one_used(target: Target) -> None:
    """A name that turns private after the check (rebinding) is not asked for again."""
    answers: list[Any] = [["127.0.0.1"], ["10.0.0.1"]]
    asked: list[str] = []

    async def resolve(host: str) -> list[str]:
        asked.append(host)
        return answers.pop(0)

    async with Outbound(allow_hosts=LOCAL, resolve=resolve) as outbound:
        result = await outbound.fetch(OutboundRequest(target.url("/", "rebind.example")))

        assert isinstance(result, OutboundResponse)
        assert asked == ["rebind.example"]
        assert target.seen[0][2]["host"] == f"rebind.example:{target.port}"

    async with Outbound(allow_hosts=LOCAL, resolve=resolve) as outbound:
        result = await outbound.fetch(OutboundRequest(target.url("/", "rebind.example")))
        assert isinstance(result, RequestRefused)


async def test_a_permitted_name_may_be_private(target: Target) -> None:
    async def resolve(_host: str) -> list[str]:
        return ["127.0.0.1"]

    async with Outbound(allow_hosts=["crm.internal"], resolve=resolve) as outbound:
        by_name = await outbound.fetch(OutboundRequest(target.url("/", "CRM.internal")))
        by_address = await outbound.fetch(OutboundRequest(target.url("/")))

    assert isinstance(by_name, OutboundResponse)
    assert isinstance(by_address, RequestRefused)


async def test_an_unknown_name_is_a_network_failure() -> None:
    async def resolve(_host: str) -> list[str]:
        raise OSError("no such host")

    async with Outbound(resolve=resolve) as outbound:
        result = await outbound.fetch(OutboundRequest("http://nowhere.example/"))

    assert isinstance(result, NetworkFailure)
    assert result.name == "ResolutionError"


async def test_an_untrusted_certificate_is_a_tls_failure(tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(tmp_path))
    server = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]

    async with Outbound(allow_hosts=LOCAL) as outbound, server:
        result = await outbound.fetch(OutboundRequest(f"https://127.0.0.1:{port}/"))

    assert isinstance(result, NetworkFailure)
    assert result.name == "TlsError"
