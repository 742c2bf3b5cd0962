"""The HTTP client for functions: one attempt of a request, without redirects, behind the guard.

Source: docs/spec/hog-functions.md#133-functions.
"""

import asyncio
import re
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import aiohttp
from yarl import URL

from hoglet.outbound.addresses import AllowList, parse_ip_literal
from hoglet.outbound.aws_sigv4 import signed_headers
from hoglet.outbound.port import (
    CONNECT_TIMEOUT_S,
    RESPONSE_BYTES,
    TIMEOUT_S,
    NetworkFailure,
    OutboundRequest,
    OutboundResponse,
    OutboundResult,
    RequestRefused,
)
from hoglet.outbound.resolver import (
    CheckingResolver,
    HostNotAllowed,
    Resolve,
    SystemResolve,
)
from hoglet.outbound.url import InvalidUrl, Target, parse_url

CONCURRENCY = 512  # open requests; others wait without using up their timeouts
_METHOD = re.compile(r"[A-Z]{1,20}")
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # a token of RFC 9110
_HOST = re.compile(r"[a-z0-9_.-]+")  # after IDNA; resolvers disagree about anything else
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_REFUSED_METHODS = frozenset({"CONNECT", "TRACE"})
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


class Outbound:
    """Sends requests for functions.

    Args:
        allow_hosts: names, addresses and CIDRs of allowed private targets.
        user_agent: default ``User-Agent``.
        response_bytes: largest response, decompressed.
        resolve: name resolution; the system's by default.

    Use it as an async context manager, or call ``open`` and ``close``, inside one event loop.
    """

    def __init__(
        self,
        *,
        allow_hosts: list[str] | None = None,
        user_agent: str = "hoglet",
        response_bytes: int = RESPONSE_BYTES,
        resolve: Resolve | None = None,
    ) -> None:
        self._allowed = AllowList(allow_hosts or ())
        self._user_agent = user_agent
        self._response_bytes = response_bytes
        self._system = None if resolve else SystemResolve()
        self._resolve: Resolve = resolve or self._system or SystemResolve()
        self._slots = asyncio.Semaphore(CONCURRENCY)
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> Self:
        """Create the connection pool."""
        connector = aiohttp.TCPConnector(
            resolver=CheckingResolver(self._allowed, self._resolve),
            use_dns_cache=False,  # every new connection is checked
            limit=0,  # the semaphore limits requests without using up their timeouts
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": self._user_agent},
            trust_env=False,  # a proxy would resolve names itself, unchecked
        )
        return self

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
        if self._system is not None:
            self._system.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def fetch(self, request: OutboundRequest, timeout_s: float = TIMEOUT_S) -> OutboundResult:
        """Make one attempt.

        Args:
            request: what to send; http or https.
            timeout_s: from name resolution to the last byte of the response; connecting may take at
                most 3 s of it.

        Returns:
            The response with any status, or the failure. Targets and programs cannot make it raise.
        """
        checked = self._check(request)
        if isinstance(checked, RequestRefused):
            return checked
        async with self._slots:
            return await self._attempt(checked, request, timeout_s)

    async def _attempt(
        self, target: Target, request: OutboundRequest, timeout_s: float
    ) -> OutboundResult:
        assert self._session is not None, "open() comes first"  # noqa: S101 (a bug in the caller)
        limits = aiohttp.ClientTimeout(
            total=timeout_s, sock_connect=min(timeout_s, CONNECT_TIMEOUT_S)
        )
        try:
            async with self._session.request(
                request.method.upper(),
                _as_yarl(target),
                headers=_headers(request, target),
                data=request.body,
                allow_redirects=False,
                skip_auto_headers=("Content-Type",),  # application/octet-stream would be a guess
                timeout=limits,
            ) as response:
                return await self._read(response)
        except Exception as error:  # noqa: BLE001 (every failure of a target is a value)
            return _failure(error, target.host, timeout_s)

    async def _read(self, response: aiohttp.ClientResponse) -> OutboundResult:
        body = bytearray()
        async for chunk in response.content.iter_chunked(65_536):
            body += chunk
            if len(body) > self._response_bytes:
                response.close()
                limit = self._response_bytes
                return RequestRefused(
                    "ResponseTooLarge", f"the response is larger than {limit} bytes"
                )
        headers = {name.lower(): value for name, value in response.headers.items()}
        return OutboundResponse(response.status, headers, bytes(body))

    def _check(self, request: OutboundRequest) -> Target | RequestRefused:
        """The parsed target, or why it is refused."""
        method = request.method.upper()
        if not _METHOD.fullmatch(method) or method in _REFUSED_METHODS:
            return RequestRefused(
                "InvalidRequest", f"the method {request.method[:20]!r} cannot be used"
            )
        for name, value in request.headers.items():
            if not _HEADER_NAME.fullmatch(name) or _CONTROLS.search(value):
                return RequestRefused("InvalidRequest", f"the header {name[:50]!r} cannot be sent")
        try:
            target = parse_url(request.url)
        except InvalidUrl as error:
            return RequestRefused("InvalidUrl", str(error))
        address = parse_ip_literal(target.host)
        if address is None:
            return target if _HOST.fullmatch(target.host) else _not_a_host(target.host)
        if not self._allowed.permits(address):
            return _not_allowed(target.host)
        return target._replace(host=str(address))


def _as_yarl(target: Target) -> URL:
    """The target as an encoded yarl URL, so that aiohttp does not quote it again."""
    return URL.build(
        scheme=target.scheme, authority=target.authority, path=target.origin_form, encoded=True
    )


def _headers(request: OutboundRequest, target: Target) -> dict[str, str]:
    headers = {name: value for name, value in request.headers.items() if name.lower() not in _OURS}
    headers["Host"] = target.authority  # as signed; aiohttp would drop a final dot
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


def _not_a_host(host: str) -> RequestRefused:
    return RequestRefused("InvalidUrl", f"{host[:100]!r} is not a host name")


def _not_allowed(host: str) -> RequestRefused:
    return RequestRefused(
        "HostNotAllowed",
        f"the host {host} is not allowed: it is not on the public internet. "
        "HOGLET_ALLOW_HOSTS lists exceptions.",
    )


def _failure(  # noqa: PLR0911 (a table of cases)
    error: Exception, host: str, timeout_s: float
) -> RequestRefused | NetworkFailure:
    match error:
        case aiohttp.ClientConnectorDNSError() if isinstance(error.os_error, HostNotAllowed):
            return _not_allowed(host)
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
