"""Limits concurrent queries; excess queries wait, up to a timeout.

Source: docs/spec/query-endpoints.md#6-errors-keys-limits (concurrency cap).
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from hoglet.endpoints.errors import too_many_queries

_RETRY_AFTER_SECONDS = 5


class ConcurrencyLimiter:
    """``count`` slots, waited for at most ``wait_seconds``."""

    def __init__(self, count: int, *, wait_seconds: float) -> None:
        self._semaphore = asyncio.Semaphore(count)
        self._wait_seconds = wait_seconds

    @asynccontextmanager
    async def taken(self) -> AsyncGenerator[None]:
        """Hold a slot during the block.

        Raises:
            TooManyQueries: none became free in time.
        """
        try:
            async with asyncio.timeout(self._wait_seconds):
                await self._semaphore.acquire()
        except TimeoutError:
            raise too_many_queries(_RETRY_AFTER_SECONDS) from None
        try:
            yield
        finally:
            self._semaphore.release()
