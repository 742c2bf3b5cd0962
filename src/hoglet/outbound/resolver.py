"""Name resolution that returns only permitted addresses.

aiohttp connects to exactly the returned addresses, so a name that changes between check and use
(DNS rebinding) has no effect.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import override

from aiohttp.abc import AbstractResolver, ResolveResult

from hoglet.outbound.addresses import AllowList

RESOLVER_THREADS = 16  # a hanging name server blocks a thread of this pool, not of the default one

type Resolve = Callable[[str], Awaitable[list[str]]]
"""Host name to addresses as strings; raises ``OSError`` if there are none."""


class HostNotAllowed(OSError):
    """The host has no address that functions may reach."""


class SystemResolve:
    """The system's resolver in threads of its own."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(RESOLVER_THREADS, thread_name_prefix="resolve")

    async def __call__(self, host: str) -> list[str]:
        """The host's addresses, IPv6 and IPv4, in the system's order."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _addresses, host)

    def close(self) -> None:
        """Shut down the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class CheckingResolver(AbstractResolver):
    """The guard as a resolver for aiohttp."""

    def __init__(self, allowed: AllowList, resolve: Resolve) -> None:
        self._allowed = allowed
        self._resolve = resolve

    @override
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._resolve(host)
        if self._allowed.permits_name(host):
            usable = found
        else:
            usable = [text for text in found if self._allowed.permits(ipaddress.ip_address(text))]
        if not usable:
            raise HostNotAllowed(host)
        return [_result(host, address, port) for address in usable]

    @override
    async def close(self) -> None:
        return


def _addresses(host: str) -> list[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _result(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        proto=0,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )
