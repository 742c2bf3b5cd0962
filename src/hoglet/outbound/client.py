"""The HTTP client for functions: one attempt of a request, without redirects, behind the guard.

Connections use aiohttp (``hoglet.outbound.connections``), which takes a sixth of a second to
import, so it is imported by the first request.

Source: docs/spec/hog-functions.md#133-functions.
"""

import asyncio
import re
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Self

from hoglet.outbound.port import (
    RESPONSE_BYTES,
    TIMEOUT_S,
    NetworkFailure,
    OutboundRequest,
    OutboundResult,
    RequestRefused,
    host_not_allowed,
)
from hoglet.outbound.resolver import Resolve, SystemResolve
from hoglet.outbound.targets import (
    AllowList,
    InvalidUrl,
    Target,
    is_host_name,
    parse_ip_literal,
    parse_url,
)

if TYPE_CHECKING:
    from hoglet.outbound.connections import Connections

CONCURRENCY = 512  # open requests; others wait without using up their timeouts
_METHOD = re.compile(r"[A-Z]{1,20}")
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # a token of RFC 9110
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_REFUSED_METHODS = frozenset({"CONNECT", "TRACE"})


class Outbound:
    """Sends the requests of functions.

    Args:
        allow_hosts: names, addresses and CIDRs of allowed private targets.
        user_agent: default ``User-Agent``.
        response_bytes: largest response, decompressed.
        resolve: name resolution; the system's by default.

    Use it as an async context manager, or call ``close``, inside one event loop.
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
        self._check_host = lru_cache(512)(self._checked_host)  # the allow list never changes
        self._slots = asyncio.Semaphore(CONCURRENCY)
        self._connections: Connections | None = None
        self._opening = asyncio.Lock()

    async def close(self) -> None:
        """Close all connections."""
        if self._connections is not None:
            await self._connections.close()
        if self._system is not None:
            self._system.close()

    async def __aenter__(self) -> Self:
        return self

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
            timeout_s: time from name resolution to the last byte of the response; connecting may
                take at most 3 s of it.

        Returns:
            The response with any status, or the failure. Neither targets nor programs can make this
            raise.
        """
        checked = self._check(request)
        if isinstance(checked, RequestRefused):
            return checked
        try:
            connections = self._connections or await self._open()
        except (OSError, ImportError):  # e.g. no file descriptors are left for the import
            return NetworkFailure("ConnectionError", "no connection can be opened now")
        async with self._slots:
            return await connections.send(request, checked, timeout_s)

    async def _open(self) -> "Connections":
        async with self._opening:
            if self._connections is None:
                make = await asyncio.to_thread(_import_connections)
                self._connections = make(
                    self._allowed,
                    self._resolve,
                    user_agent=self._user_agent,
                    response_bytes=self._response_bytes,
                )
            return self._connections

    def _check(self, request: OutboundRequest) -> Target | RequestRefused:
        """Parse and check the target; returns a refusal if it is not allowed."""
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
        host = self._check_host(target.host)
        if isinstance(host, RequestRefused):
            return host
        return target if host == target.host else target._replace(host=host)

    def _checked_host(self, host: str) -> str | RequestRefused:
        """The host as the address that it denotes, or as it is if it is a name."""
        address = parse_ip_literal(host)
        if address is None:
            return host if is_host_name(host) else _not_a_host(host)
        return str(address) if self._allowed.permits(address) else host_not_allowed(host)


def _import_connections() -> "type[Connections]":
    from hoglet.outbound.connections import Connections

    return Connections


def _not_a_host(host: str) -> RequestRefused:
    return RequestRefused("InvalidUrl", f"{host[:100]!r} is not a host name")
