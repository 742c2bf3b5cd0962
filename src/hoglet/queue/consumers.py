"""What every consumer of a queue needs, in the order of its work.

It waits for a wake-up (:class:`Signals`), gives way to a burst of other work (:class:`Bursts`),
chooses among the due jobs (:func:`of_light_keys`, :func:`within_lanes`, :func:`within_weight`), and
extends their leases while it works on them (:func:`keep_leases`).
"""

import asyncio
import contextlib
import math
import time
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import structlog
from sqlalchemy import Row

from hoglet.kit.clock import until_tick
from hoglet.queue.port import Job, LaneLimit, Queue

log = structlog.get_logger(__name__)

LEASE = timedelta(seconds=60)
_EXTENSIONS = 3  # for each duration of a lease: two may fail before it expires


class Signals:
    """Wakes consumers of this process at once: one wake-up per queue, not lost before a wait."""

    def __init__(self) -> None:
        self._events: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    def wake(self, name: str) -> None:
        """Wake the waiter for ``name``, now or at its next ``wait``."""
        self._events[name].set()

    async def wait(self, name: str, seconds: float) -> None:
        """Return on a wake-up, or after about ``seconds``, together with other waiters."""
        event = self._events[name]
        try:
            async with asyncio.timeout(until_tick(seconds)):
                await event.wait()
        except TimeoutError:
            return
        event.clear()


class Bursts:
    """Bursts of work that consumers of another queue in this process give way to.

    Both compete for the cores and, on SQLite, for the only writer. A burst has precedence for
    ``MAX_SECONDS`` at most, and the next one not before three times as long has passed, so that
    work without an end has it once.

    Args:
        on_end: called when the burst has ended.
        now: monotonic time, in seconds.
    """

    MAX_SECONDS = 5.0
    _PAUSE_RATIO = 3  # of the pause to the precedence of the burst before

    def __init__(
        self, on_end: Callable[[], None] = lambda: None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._on_end = on_end
        self._now = now
        self._busy: set[int] = set()
        self._next = -math.inf
        self._began: float | None = None
        self.number = 0

    @property
    def has_precedence(self) -> bool:
        """Whether other consumers should give way; ``number`` then tells bursts apart."""
        return self._began is not None and self._now() < self._began + self.MAX_SECONDS

    def begin(self, consumer: int) -> None:
        """Record that a consumer has much to do; no effect if it is known."""
        if not self._busy and self._now() >= self._next:
            self._began = self._now()
            self.number += 1
        self._busy.add(consumer)

    def end(self, consumer: int) -> None:
        """Record that a consumer has done it; no effect if it is known."""
        self._busy.discard(consumer)
        if self._busy or self._began is None:
            return
        lasted = min(self._now() - self._began, self.MAX_SECONDS)
        self._next = self._began + lasted * (1 + self._PAUSE_RATIO)
        self._began = None
        self._on_end()


def of_light_keys(oldest: Sequence[Row[Any]], most: int) -> list[Row[Any]]:
    """The jobs of several ordering keys that can be leased together as a new group.

    A key joins with all of its jobs among the oldest, or with none, so its jobs keep their order;
    neither does one that has jobs of an earlier group.

    Args:
        oldest: due jobs, oldest first.
        most: weight of all of them together.

    Returns:
        Nothing if the jobs of the oldest one's key weigh more.
    """
    weights = Counter[str | None]()
    for row in oldest:
        weights[row.ordering_key] += row.weight
    grouped = {row.ordering_key for row in oldest if row.group_id is not None}
    left = most
    light: set[str | None] = set()
    for key, weight in weights.items():
        if weight <= left and key not in grouped:
            light.add(key)
            left -= weight
    if oldest[0].ordering_key not in light:
        return []
    return [row for row in oldest if row.ordering_key in light]


def within_lanes(rows: list[Row[Any]], limits: Mapping[str, LaneLimit]) -> list[Row[Any]]:
    """The rows without those beyond the limits of their lanes."""
    chosen = list[Row[Any]]()
    taken = Counter[str]()
    for row in rows:
        limit = limits.get(row.lane)
        if limit is not None:
            taken[limit.name] += 1
        if limit is None or taken[limit.name] <= limit.jobs:
            chosen.append(row)
    return chosen


def within_weight(
    rows: list[Row[Any]], max_weight: int | None, max_bytes: int | None
) -> list[Row[Any]]:
    """The longest prefix of rows within both limits; at least one row."""
    chosen: list[Row[Any]] = []
    weight = size = 0
    for row in rows:
        weight += row.weight
        size += row.size
        is_over = (max_weight is not None and weight > max_weight) or (
            max_bytes is not None and size > max_bytes
        )
        if chosen and is_over:
            break
        chosen.append(row)
    return chosen


@contextlib.asynccontextmanager
async def keep_leases(
    queue: Queue, jobs: Sequence[Job], duration: timedelta = LEASE
) -> AsyncGenerator[None]:
    """Extend the leases of jobs by ``duration`` until the block ends."""
    task = asyncio.create_task(_extend(queue, jobs, duration))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _extend(queue: Queue, jobs: Sequence[Job], duration: timedelta) -> None:
    while True:
        await asyncio.sleep(duration.total_seconds() / _EXTENSIONS)
        try:
            await queue.extend(jobs, duration)
        except Exception:  # the lease may expire; finishing the job then detects it
            log.exception("extending leases failed", action="extend_failed")
