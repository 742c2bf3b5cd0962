"""The result cache, bounded in bytes, and the slots of queries.

Source: docs/spec/query-endpoints.md#53-refresh and
docs/spec/query-endpoints.md#55-which-source-is-read-and-the-cache.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec

from hoglet.endpoints.errors import too_many_queries
from hoglet.warehouse import JsonParts

type Json = dict[str, Any]

_OVERHEAD_BYTES = 2_000
_RETRY_AFTER_SECONDS = 5


class Result(msgspec.Struct, frozen=True, weakref=True):
    """A computed result, without the fields that differ between runs.

    ``parts`` are the encoded ``results``; ``types`` are ``[["count()", "UInt64"]]``;
    ``materialized_at`` is set if a materialized table was read; ``is_joined`` if another run
    computed it; ``saved_offset`` is the OFFSET in the query; ``next_key`` has the sort values of
    the last row if a page by cursor is not the last one; ``is_live`` means that ``system`` tables
    were read, so the result must not be reused; ``rounded`` are the range variables that reading a
    materialized table rounded, ``{"since": "day"}``.
    """

    parts: JsonParts
    columns: list[str]
    types: list[list[str]]
    row_count: int
    limit: int | None
    offset: int
    has_more: bool
    computed_at: datetime
    cache_seconds: float
    is_materialized: bool = False
    materialized_at: datetime | None = None
    rows_read: int = 0
    bytes_read: int = 0
    engine_seconds: float = 0.0
    debug: Json = msgspec.field(default_factory=dict[str, Any])
    is_insight: bool = False
    is_joined: bool = False
    next_key: list[Any] | None = None
    saved_offset: int = 0
    is_live: bool = False
    rounded: dict[str, str] = {}

    @property
    def rows_json(self) -> bytes:
        """The complete ``results``."""
        return b"".join(self.parts.pieces())

    @property
    def rows_bytes(self) -> int:
        """Length of ``results`` in bytes."""
        return self.parts.total_bytes

    @property
    def target_age(self) -> datetime:
        """When the result expires."""
        return self.ends()

    def ends(self, *, times: int = 1) -> datetime:
        """When the result is as old as ``times`` its cache time."""
        return self.computed_at + timedelta(seconds=self.cache_seconds * times)

    def is_fresh(self, now: datetime, *, times: int = 1) -> bool:
        """Whether the result is younger than ``times`` its cache time."""
        return now < self.ends(times=times)

    @property
    def size_bytes(self) -> int:
        """Approximate memory use in the cache."""
        return self.rows_bytes + _OVERHEAD_BYTES


class ResultCache:
    """An LRU cache, bounded by ``capacity_bytes``.

    Concurrency: for one event loop.
    """

    def __init__(self, capacity_bytes: int) -> None:
        self._capacity = capacity_bytes
        self._results: OrderedDict[str, Result] = OrderedDict()
        self.size_bytes = 0

    def get(self, key: str) -> Result | None:
        """The result with this key, of any age."""
        result = self._results.get(key)
        if result is not None:
            self._results.move_to_end(key)
        return result

    def put(self, key: str, result: Result) -> None:
        """Cache a result, unless it is larger than a quarter of the capacity."""
        self._remove(key)
        size_bytes = result.size_bytes
        if size_bytes * 4 > self._capacity:
            return
        self._results[key] = result
        self.size_bytes += size_bytes
        while self.size_bytes > self._capacity:
            self._remove(next(iter(self._results)))

    def clear(self) -> None:
        """Drop all results."""
        self._results.clear()
        self.size_bytes = 0

    def _remove(self, key: str) -> None:
        old = self._results.pop(key, None)
        if old is not None:
            self.size_bytes -= old.size_bytes


class ConcurrencyLimiter:
    """At most ``count`` slots at once, in order of arrival.

    Concurrency: used from one event loop.
    """

    def __init__(self, count: int, *, wait_seconds: float) -> None:
        self._free = count
        self._waiting = deque[asyncio.Future[None]]()
        self._wait_seconds = wait_seconds

    async def acquire(self) -> None:
        """Take a slot, which must be released; wait up to ``wait_seconds`` for it.

        Raises:
            TooManyQueries: none became free in time.
        """
        if self._free:  # nobody waits while a slot is free
            self._free -= 1
            return
        slot = asyncio.get_running_loop().create_future()
        self._waiting.append(slot)
        try:
            async with asyncio.timeout(self._wait_seconds):
                await slot
        except TimeoutError:
            self._give_up(slot)
            raise too_many_queries(_RETRY_AFTER_SECONDS) from None
        except BaseException:
            self._give_up(slot)
            raise

    def release(self) -> None:
        """Return a slot; whoever has waited longest gets it."""
        while self._waiting:
            slot = self._waiting.popleft()
            if not slot.done():
                slot.set_result(None)
                return
        self._free += 1

    def _give_up(self, slot: "asyncio.Future[None]") -> None:
        """Do not wait any more; a slot that was given at the same time is for the next one."""
        if slot.cancel() or slot.cancelled():
            if slot in self._waiting:
                self._waiting.remove(slot)
        else:
            self.release()


class Turn:
    """Holds a slot during a block, on cancellation until the engine has ended the query.

    Args:
        slots: the slots.
        query_id: the id of the query in the engine.
        stop: stops a query, and waits until the engine has ended it.
    """

    __slots__ = ("_query_id", "_slots", "_stop")

    def __init__(
        self, slots: ConcurrencyLimiter, query_id: str, stop: Callable[[str], Awaitable[None]]
    ) -> None:
        self._slots = slots
        self._query_id = query_id
        self._stop = stop

    async def __aenter__(self) -> None:
        await self._slots.acquire()

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is not None and issubclass(kind, asyncio.CancelledError):
                await self._stop(self._query_id)
        finally:
            self._slots.release()
