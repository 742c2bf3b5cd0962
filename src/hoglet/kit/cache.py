"""A cache with a time to live, for lookups that every request repeats."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable


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


class TTLCache[K: Hashable, V]:
    """Caches the results of ``load`` for ``seconds``; misses are not cached.

    Another process (``hoglet admin keys revoke``) may change the database, so a revoked key works
    until its entry expires.

    Args:
        load: loads the value of a key, or None.
        seconds: time to live of an entry.
        capacity: maximum number of entries; beyond it the oldest is evicted.

    Concurrency: safe within one event loop; two callers may load the same key at once.
    """

    def __init__(
        self, load: Callable[[K], Awaitable[V | None]], *, seconds: float, capacity: int = 10_000
    ) -> None:
        self._load = load
        self._seconds = seconds
        self._known = BoundedCache[K, tuple[float, V]](capacity)

    async def get(self, key: K) -> V | None:
        """The cached or loaded value."""
        known = self._known.get(key)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        value = await self._load(key)
        self._known.pop(key, None)
        if value is not None:
            self._known.put(key, (time.monotonic() + self._seconds, value))
        return value

    def expires_at(self, key: K) -> float:
        """When the cached value expires, on the monotonic clock; 0 if there is none."""
        known = self._known.get(key)
        return 0.0 if known is None else known[0]

    def forget(self) -> None:
        """Clear the cache."""
        self._known.clear()
