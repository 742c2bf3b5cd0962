"""Caches, and computations in progress that others with the same key can join."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from functools import partial


class BoundedCache[K: Hashable, V](OrderedDict[K, V]):
    """A dict of at most ``capacity`` entries; ``put`` evicts the oldest entries beyond it.

    ``get`` does not change the order; call ``move_to_end`` to evict the least recently used.
    """

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self._capacity = capacity

    def put(self, key: K, value: V) -> None:
        """Store a value and evict the entries that exceed the capacity."""
        self[key] = value
        while len(self) > self._capacity:
            self.popitem(last=False)


class _Flight[T]:
    def __init__(self, task: "asyncio.Task[T]") -> None:
        self.task = task
        self.waiting = 0


class SingleFlight[K: Hashable, T]:
    """Joins callers with the same key to one computation.

    Cancellation: a cancelled caller leaves; when the last one leaves, the computation is cancelled
        and awaited, so the engine has stopped when ``join`` ends.
    """

    def __init__(self) -> None:
        self._in_flight: dict[K, _Flight[T]] = {}

    async def join(self, key: K, compute: Callable[[], Awaitable[T]]) -> T:
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

    def _end(self, key: K, flight: _Flight[T]) -> None:
        if self._in_flight.get(key) is flight:
            del self._in_flight[key]
        if not flight.task.cancelled():
            flight.task.exception()  # retrieved, so that asyncio does not warn if nobody waits


async def _run[T](compute: Callable[[], Awaitable[T]]) -> T:
    return await compute()


class TTLCache[K: Hashable, V]:
    """Caches the results of ``load`` for ``seconds``; misses are not cached.

    Callers of the same key share one load: of many clients of a busy server, each would otherwise
    load whatever has just expired.

    Another process (``hoglet admin keys revoke``) may change the database, so a revoked key works
    until its entry expires.

    Args:
        load: loads the value of a key, or None.
        seconds: time to live of an entry.
        capacity: maximum number of entries; beyond it the oldest is evicted.

    Concurrency: safe within one event loop. What was being loaded during ``forget`` is not kept.
    """

    def __init__(
        self, load: Callable[[K], Awaitable[V | None]], *, seconds: float, capacity: int = 10_000
    ) -> None:
        self._load = load
        self._seconds = seconds
        self._known = BoundedCache[K, tuple[float, V]](capacity)
        self._loading = SingleFlight[K, V | None]()

    async def get(self, key: K) -> V | None:
        """The cached or loaded value."""
        known = self._known.get(key)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        return await self._loading.join(key, partial(self._loaded, key, self._loading))

    def expires_at(self, key: K) -> float:
        """When the cached value expires, on the monotonic clock; 0 if there is none."""
        known = self._known.get(key)
        return 0.0 if known is None else known[0]

    def forget(self) -> None:
        """Clear the cache."""
        self._known.clear()
        self._loading = SingleFlight[K, V | None]()

    async def _loaded(self, key: K, loading: SingleFlight[K, V | None]) -> V | None:
        value = await self._load(key)
        if loading is self._loading:  # otherwise it may be older than the last change
            self._known.pop(key, None)
            if value is not None:
                self._known.put(key, (time.monotonic() + self._seconds, value))
        return value
