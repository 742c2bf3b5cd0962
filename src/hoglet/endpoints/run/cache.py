"""The result cache, bounded in bytes.

Source: docs/spec/query-endpoints.md#53-refresh and
docs/spec/query-endpoints.md#55-which-source-is-read-and-the-cache.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from hoglet.warehouse import JsonParts

type Json = dict[str, Any]

_OVERHEAD_BYTES = 2_000


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Result:
    """A computed result, without the fields that differ between runs.

    ``parts`` are the encoded ``results``; ``types`` are ``[["count()", "UInt64"]]``;
    ``materialized_at`` is set if a materialized table was read; ``is_joined`` if another run
    computed it; ``saved_offset`` is the OFFSET in the query; ``next_key`` has the sort values of
    the last row if a page by cursor is not the last one; ``is_live`` means that ``system`` tables
    were read, so the result must not be reused.
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
    debug: Json = field(default_factory=dict[str, Any])
    is_insight: bool = False
    is_joined: bool = False
    next_key: list[Any] | None = None
    saved_offset: int = 0
    is_live: bool = False

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
        return self.computed_at + timedelta(seconds=self.cache_seconds)

    def is_fresh(self, now: datetime, *, times: int = 1) -> bool:
        """Whether the result is younger than ``times`` its cache time."""
        return now < self.computed_at + timedelta(seconds=self.cache_seconds * times)

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
        if result.size_bytes * 4 > self._capacity:
            return
        self._results[key] = result
        self.size_bytes += result.size_bytes
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
