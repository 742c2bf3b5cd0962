"""A small memory with an age limit, for look-ups that every request repeats."""

import time
from collections.abc import Awaitable, Callable, Hashable


class TTLCache[K: Hashable, V]:
    """Remembers what ``load`` found for ``seconds``; what was not found is asked again.

    Another process (``hoglet admin keys revoke``) may change the database, so the age limit is
    also the longest time that a revoked key still works.

    Args:
        load: finds the value of a key, or None.
        seconds: how long a value is remembered.
        capacity: how many are remembered; beyond it the oldest goes.

    Concurrency: safe within one event loop; two callers may load the same key at once.
    """

    def __init__(
        self, load: Callable[[K], Awaitable[V | None]], *, seconds: float, capacity: int = 10_000
    ) -> None:
        self._load = load
        self._seconds = seconds
        self._capacity = capacity
        self._known: dict[K, tuple[float, V]] = {}

    async def get(self, key: K) -> V | None:
        """The value, from memory or loaded."""
        known = self._known.get(key)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        value = await self._load(key)
        self._known.pop(key, None)
        if value is not None:
            self._known[key] = (time.monotonic() + self._seconds, value)
            self._shrink()
        return value

    def forget(self) -> None:
        """Forget everything; the next look-ups load."""
        self._known.clear()

    def _shrink(self) -> None:
        while len(self._known) > self._capacity:
            del self._known[next(iter(self._known))]
