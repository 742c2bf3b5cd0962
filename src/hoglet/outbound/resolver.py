"""Name resolution by the system, in dedicated threads."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

RESOLVER_THREADS = 16  # a hanging name server blocks threads of this pool, not of the default one

type Resolve = Callable[[str], Awaitable[list[str]]]
"""Resolves a host name to addresses as strings; raises ``OSError`` if there are none."""


class HostNotAllowed(OSError):
    """The host has no address that functions may reach."""


class SystemResolve:
    """The system's resolver in dedicated threads."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(RESOLVER_THREADS, thread_name_prefix="resolve")

    async def __call__(self, host: str) -> list[str]:
        """The host's addresses, IPv6 and IPv4, in the system's order."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _addresses, host)

    def close(self) -> None:
        """Shut down the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _addresses(host: str) -> list[str]:
    entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))
