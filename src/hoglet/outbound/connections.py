"""Connections to the targets of functions: an aiohttp pool behind the guard.

aiohttp connects to exactly the addresses that the guard returns, so a name that changes between
check and use (DNS rebinding) has no effect.

Requests are written here, and aiohttp's connector and parser do the rest: TLS, idle connections,
reading responses. aiohttp's session does nothing more for a request without cookies, redirects,
proxies and uploads, but takes 60 of 105 µs (docs/adr/0025-runs-in-groups.md).
"""

import asyncio
import functools
import ipaddress
import socket
from bisect import bisect_left
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, override

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from hoglet.kit.compression import InflatedTooLarge, NotCompressed
from hoglet.outbound.aws_sigv4 import signed_headers
from hoglet.outbound.decompression import ACCEPT_ENCODING, decompress
from hoglet.outbound.port import (
    CONNECT_TIMEOUT_S,
    NetworkFailure,
    OutboundRequest,
    OutboundResponse,
    OutboundResult,
    RequestRefused,
    host_not_allowed,
)
from hoglet.outbound.resolver import HostNotAllowed, Resolve
from hoglet.outbound.targets import AllowList, Target

_OURS = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)  # headers that frame or route the request; programs must not forge them


_REPEATED = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
"""Methods that are sent again if the target closes the connection without a response, as it does
with one that was idle for too long."""


_HEADER_BYTES = 65_536  # of one header; security policies have outgrown aiohttp's 8190
_HEADER_COUNT = 1_000
_SHORT_BYTES = 32_768  # compressed


class _ResponseHandler(ResponseHandler):
    """Reads a response even if more bytes follow than it announces.

    aiohttp's parser drops a whole response if what follows it in the same read is no response. The
    request would then be repeated, although the target has answered it.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._options: dict[str, Any] = {}
        self._first: bytes | None = None
        """What arrived first of a response: b"" before, None once it is more than one read."""

    @override
    def set_response_params(self, **options: Any) -> None:
        self._options, self._first = options, b""
        super().set_response_params(**options)

    @override
    def data_received(self, data: bytes) -> None:
        self._first = data if self._first == b"" else None
        super().data_received(data)

    @override
    def set_exception(self, exc: BaseException, exc_cause: BaseException | None = None) -> None:
        first, self._first = self._first, None
        if first and isinstance(exc, HttpProcessingError):
            lengths = range(1, len(first))
            end = bisect_left(lengths, True, key=lambda length: self._is_malformed(first[:length]))
            super().set_response_params(**self._options)
            super().data_received(first[:end])
            if len(self):
                self.force_close()
                return
        super().set_exception(exc, exc if exc_cause is None else exc_cause)

    def _is_malformed(self, data: bytes) -> bool:
        super().set_response_params(**self._options)
        parser: Any = self._parser
        try:
            parser.feed_data(data)
        except HttpProcessingError:
            return True
        return False


class _Connector(aiohttp.TCPConnector):
    """A connector whose connections read responses with ``_ResponseHandler``."""

    def __init__(self, resolver: AbstractResolver) -> None:
        super().__init__(
            resolver=resolver,
            use_dns_cache=False,  # every new connection is checked
            limit=0,  # the client's semaphore limits requests without using up their timeouts
        )
        self._factory = functools.partial(_ResponseHandler, loop=self._loop)


class Connections:
    """The connection pool.

    Args:
        allowed: private targets that may be reached.
        resolve: name resolution.
        user_agent: default ``User-Agent``.
        response_bytes: largest response, decompressed.

    Concurrency: created and used inside one event loop.
    """

    def __init__(
        self, allowed: AllowList, resolve: Resolve, *, user_agent: str, response_bytes: int
    ) -> None:
        self._response_bytes = response_bytes
        self._connector = _Connector(CheckingResolver(allowed, resolve))
        self._default_headers = {
            "Accept": "*/*",
            "Accept-Encoding": ACCEPT_ENCODING,
            "User-Agent": user_agent,
        }
        self._route = functools.lru_cache(512)(_route)

    async def close(self) -> None:
        """Close all connections."""
        await self._connector.close()

    async def send(
        self, request: OutboundRequest, target: Target, timeout_s: float
    ) -> OutboundResult:
        """Make one attempt; failures are returned, not raised."""
        method = request.method.upper()
        try:
            message = self._encode(method, request, target)
            async with asyncio.timeout(timeout_s):
                try:
                    return await self._exchange(method, message, target, timeout_s)
                except aiohttp.ClientConnectorError:
                    raise
                except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
                    if method not in _REPEATED:
                        raise
                return await self._exchange(method, message, target, timeout_s)
        except Exception as error:  # noqa: BLE001 (failures of a target are returned)
            return _failure(error, target.host, timeout_s)

    def _encode(self, method: str, request: OutboundRequest, target: Target) -> bytes:
        """The request as it is sent.

        Raises:
            ValueError: a header contains a line break.
        """
        headers = {
            "Host": target.authority,  # first, as RFC 9110 recommends
            **self._default_headers,
            **_headers(request, target),
        }
        body = request.body
        if body is not None or method not in ("GET", "HEAD", "OPTIONS"):
            headers["Content-Length"] = str(len(body or b""))
        # The last of equal names wins, so a program replaces the default headers.
        lines = {name.lower(): f"{name}: {value}" for name, value in headers.items()}
        head = "\r\n".join([f"{method} {target.origin_form} HTTP/1.1", *lines.values(), "\r\n"])
        if not head.count("\r") == head.count("\n") == len(lines) + 2:
            raise ValueError("a header contains a line break")
        return head.encode(errors="ignore") + (body or b"")

    async def _exchange(
        self, method: str, message: bytes, target: Target, timeout_s: float
    ) -> OutboundResult:
        """Send a request on an idle or a new connection and read the response."""
        route = self._route(target.scheme, target.authority)
        connection = await self._connector.connect(route, [], _limits(timeout_s))
        try:
            protocol, transport = connection.protocol, connection.transport
            if protocol is None or transport is None:
                raise aiohttp.ServerDisconnectedError
            protocol.set_response_params(
                skip_payload=method == "HEAD",
                read_until_eof=True,
                auto_decompress=False,
                max_field_size=_HEADER_BYTES,
                max_headers=_HEADER_COUNT,
            )
            transport.write(message)
            result = await self._read(protocol)
            if not transport.get_write_buffer_size():  # else the target responded early
                connection.release()  # closes it if the response is incomplete
            return result
        finally:
            connection.close()  # no effect once it is released

    async def _read(self, protocol: ResponseHandler) -> OutboundResult:
        head, content = await protocol.read()
        while 100 <= head.code < 200 and head.code != HTTPStatus.SWITCHING_PROTOCOLS:
            head, content = await protocol.read()
        if head.code < HTTPStatus.OK:  # no request asks for another protocol
            protocol.force_close()
            return _malformed(f"its status is {head.code:03}")
        if head.code == HTTPStatus.NO_CONTENT and head.headers.get("Content-Length", "0") != "0":
            protocol.force_close()  # a body that must not be there may follow
        body = bytearray()
        while chunk := await content.readany():
            body += chunk
            if len(body) > self._response_bytes:
                return self._too_large()
        headers = {name.lower(): value for name, value in head.headers.items()}
        encoding = headers.get("content-encoding", "")
        if not encoding:
            return OutboundResponse(head.code, headers, bytes(body))
        unpack = functools.partial(decompress, bytes(body), encoding, self._response_bytes)
        try:
            # Short ones take less time than handing them to a thread.
            plain = await asyncio.to_thread(unpack) if len(body) > _SHORT_BYTES else unpack()
        except InflatedTooLarge:
            return self._too_large()
        except NotCompressed as error:
            return _malformed(str(error))
        return OutboundResponse(head.code, headers, plain)

    def _too_large(self) -> RequestRefused:
        limit = self._response_bytes
        return RequestRefused("ResponseTooLarge", f"the response is larger than {limit} bytes")


class CheckingResolver(AbstractResolver):
    """The guard as a resolver for aiohttp."""

    def __init__(self, allowed: AllowList, resolve: Resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve

    @override
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = await self._resolve(host)
        if self._allowed.permits_name(host):
            usable = addresses
        else:
            usable = [
                text for text in addresses if self._allowed.permits(ipaddress.ip_address(text))
            ]
        if not usable:
            raise HostNotAllowed(host)
        return [_result(host, address, port) for address in usable]

    @override
    async def close(self) -> None:
        return


@functools.lru_cache(16)
def _limits(timeout_s: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=timeout_s, sock_connect=min(timeout_s, CONNECT_TIMEOUT_S))


def _route(scheme: str, authority: str) -> aiohttp.ClientRequest:
    """Any request to a target: it tells aiohttp where to connect, and is not sent."""
    url = URL.build(scheme=scheme, authority=authority, path="/", encoded=True)
    return aiohttp.ClientRequest("GET", url, loop=asyncio.get_running_loop())


def _headers(request: OutboundRequest, target: Target) -> dict[str, str]:
    headers = {name: value for name, value in request.headers.items() if name.lower() not in _OURS}
    headers["Host"] = target.authority  # as signed
    basic = target.basic_authorization
    if basic and not any(name.lower() == "authorization" for name in headers):
        headers["Authorization"] = basic
    if request.aws_sigv4 is None:
        return headers
    return signed_headers(
        request.aws_sigv4,
        target,
        method=request.method.upper(),
        headers=headers,
        body=request.body or b"",
        now=datetime.now(UTC),
    )


def _failure(  # noqa: PLR0911 (a table of cases)
    error: Exception, host: str, timeout_s: float
) -> RequestRefused | NetworkFailure:
    match error:
        case aiohttp.ClientConnectorDNSError() if isinstance(error.os_error, HostNotAllowed):
            return host_not_allowed(host)
        case aiohttp.ClientConnectorDNSError():
            return NetworkFailure("ResolutionError", f"the host name {host} cannot be resolved")
        case aiohttp.InvalidURL() | aiohttp.InvalidUrlClientError():
            return RequestRefused("InvalidUrl", f"the URL cannot be fetched: {error}")
        case TimeoutError():
            return NetworkFailure("TimeoutError", f"no complete response within {timeout_s:g} s")
        case aiohttp.ClientSSLError():
            return NetworkFailure("TlsError", str(error))
        case aiohttp.ClientConnectorError():
            return NetworkFailure("ConnectionError", f"cannot connect to {host}: {error.strerror}")
        case HttpProcessingError():
            return _malformed(error.message)
        case aiohttp.ClientPayloadError():
            return _malformed(str(error))
        case aiohttp.ClientError() | OSError():
            return NetworkFailure("ConnectionError", str(error) or type(error).__name__)
        case _:  # aiohttp rejects unsendable requests with ValueError and TypeError
            return RequestRefused("InvalidRequest", str(error) or type(error).__name__)


def _malformed(reason: str) -> NetworkFailure:
    return NetworkFailure("ProtocolError", f"the response is malformed: {reason}")


def _result(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        proto=0,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )
