"""Connections to the targets of functions: an aiohttp pool behind the guard.

aiohttp connects to exactly the addresses that the guard returns, so a name that changes between
check and use (DNS rebinding) has no effect.
"""

import functools
import ipaddress
import socket
from datetime import UTC, datetime
from typing import override

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from hoglet.outbound.aws_sigv4 import signed_headers
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
        connector = aiohttp.TCPConnector(
            resolver=CheckingResolver(allowed, resolve),
            use_dns_cache=False,  # every new connection is checked
            limit=0,  # the client's semaphore limits requests without using up their timeouts
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": user_agent},
            skip_auto_headers=("Content-Type",),  # aiohttp would guess application/octet-stream
            trust_env=False,  # a proxy would resolve names itself, unchecked
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def send(
        self, request: OutboundRequest, target: Target, timeout_s: float
    ) -> OutboundResult:
        """Make one attempt; failures are returned, not raised."""
        limits = _limits(timeout_s)
        try:
            async with self._session.request(
                request.method.upper(),
                _as_yarl(target),
                headers=_headers(request, target),
                data=request.body,
                allow_redirects=False,
                timeout=limits,
            ) as response:
                return await self._read(response)
        except Exception as error:  # noqa: BLE001 (failures of a target are returned)
            return _failure(error, target.host, timeout_s)

    async def _read(self, response: aiohttp.ClientResponse) -> OutboundResult:
        body = bytearray()
        while chunk := await response.content.readany():
            body += chunk
            if len(body) > self._response_bytes:
                response.close()
                limit = self._response_bytes
                return RequestRefused(
                    "ResponseTooLarge", f"the response is larger than {limit} bytes"
                )
        headers = {name.lower(): value for name, value in response.headers.items()}
        return OutboundResponse(response.status, headers, bytes(body))


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


def _as_yarl(target: Target) -> URL:
    """The target as a yarl URL marked as encoded, so that aiohttp does not quote it again."""
    return URL.build(
        scheme=target.scheme, authority=target.authority, path=target.origin_form, encoded=True
    )


def _headers(request: OutboundRequest, target: Target) -> dict[str, str]:
    headers = {name: value for name, value in request.headers.items() if name.lower() not in _OURS}
    headers["Host"] = target.authority  # as signed; aiohttp would drop a trailing dot
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
        case aiohttp.ClientPayloadError() | aiohttp.ClientResponseError():
            return NetworkFailure("ProtocolError", f"the response is malformed: {error}")
        case aiohttp.ClientError() | OSError():
            return NetworkFailure("ConnectionError", str(error) or type(error).__name__)
        case _:  # aiohttp rejects unsendable requests with ValueError and TypeError
            return RequestRefused("InvalidRequest", str(error) or type(error).__name__)


def _result(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        proto=0,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )
