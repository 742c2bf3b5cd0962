"""Limits concurrent queries, with a timeout for waiting ones, and computes identical ones once.

Source: docs/spec/query-endpoints.md#6-errors-keys-limits (concurrency cap).
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from hoglet.endpoints.errors import too_many_queries

_RETRY_AFTER_SECONDS = 5


class ConcurrencyLimiter:
    """At most ``count`` slots at once; callers wait up to ``wait_seconds`` for one."""

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


@dataclass(slots=True)
class _Flight[T]:
    task: "asyncio.Task[T]"
    waiting: int = 0


class SingleFlight[T]:
    """Joins callers with the same key to one computation.

    Cancellation: a cancelled caller leaves; when the last one leaves, the computation is cancelled
        and awaited, so the engine has stopped when ``join`` ends.
    """

    def __init__(self) -> None:
        self._in_flight: dict[str, _Flight[T]] = {}

    async def join(self, key: str, compute: Callable[[], Awaitable[T]]) -> T:
        """The outcome of the running computation with this key, or of a new one."""
        flight = self._in_flight.get(key)
        if flight is None:
            flight = _Flight(asyncio.ensure_future(_run(compute)))
            self._in_flight[key] = flight
            flight.task.add_done_callback(lambda _: self._end(key, flight))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        except asyncio.CancelledError:
            if flight.waiting == 1:
                self._in_flight.pop(key, None)  # a computation being cancelled must not be joined
                flight.task.cancel()
                await asyncio.wait({flight.task})
            raise
        finally:
            flight.waiting -= 1

    def _end(self, key: str, flight: _Flight[T]) -> None:
        if self._in_flight.get(key) is flight:
            del self._in_flight[key]
        if not flight.task.cancelled():
            flight.task.exception()  # retrieved, so that asyncio does not warn if nobody waits


async def _run[T](compute: Callable[[], Awaitable[T]]) -> T:
    return await compute()
