"""Measures the live values of a run, from its Python frames.

Nothing is counted while a program runs normally. Process memory and reports of library functions
indicate when the limit *may* be near; only then are all values reachable from the run's frames
added up, by the rules of docs/spec/hog-language.md#10-limits.

Python needs 5 to 25 times the charged bytes for small values. So two more rules bound the process:
it must not grow beyond a few times the limit whatever the count says, and a count that takes too
long is aborted, after which a smaller multiple applies.
"""

import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any, Final

from hoglet.hog.runtime.budget import LARGE, memory_exceeded
from hoglet.hog.runtime.values import HOLDERS

_BLOCK_BYTES: Final = 24  # a small value is charged about this much per allocated block
_MAX_GROWTH: Final = 6  # an array of different numbers needs 5 bytes for each charged one
_MAX_UNCOUNTED: Final = 4
_MIN_LIMIT: Final = 16 * 1024 * 1024  # growth is measured in steps of a megabyte and more
_COUNT_S: Final = 0.4
_CHUNK: Final = 4096
_DENSEST: Final = 0.2  # assumed minimum of charged bytes per byte of the process
_MAX_GARBAGE: Final = 64 * 1024 * 1024
_ALLOCATED: Final = 32 * 1024 * 1024
_STATUS: Final = Path("/proc/self/statm")
_PAGE: Final = 4096
_HAS_STATUS: Final = _STATUS.exists()


def process_bytes() -> int:
    """Resident memory of this process without file pages; estimated from the heap if unknown.

    File pages, such as half a gigabyte of the engine's library, come and go with the work of other
    threads and with memory pressure.
    """
    if not _HAS_STATUS:
        return sys.getallocatedblocks() * 64
    with open("/proc/self/statm", "rb", buffering=0) as file:  # noqa: PTH123 (half the time)
        _, resident, of_files, *_ = file.read().split()
        return (int(resident) - int(of_files)) * _PAGE


type Figures = tuple[int, int]
"""Bytes of this process, and allocated blocks of Python's heap."""


class _RecentFigures:
    """Caches both figures: measuring takes 20 to 50 us, as long as a small program.

    Slightly old figures suffice at the start of a run, unless an earlier run has grown the process
    since: the next run would be charged for it.

    Programs can leave containers that refer to themselves. Python collects them after a number of
    new containers, which may hold any number of bytes; so they are also collected when the process
    has grown.

    Attributes:
        known: the cached figures; also cleared by the watchdog.
    """

    def __init__(self) -> None:
        self.known: Figures | None = None
        self._bytes_after_collection = 0
        self._allocated = 0

    def get(self) -> Figures:
        """The cached figures; measured if there are none."""
        if self.known is None:
            self.known = self._bytes_without_garbage(), sys.getallocatedblocks()
        return self.known

    def _bytes_without_garbage(self) -> int:
        used = process_bytes()
        if used > self._bytes_after_collection + _MAX_GARBAGE:
            gc.collect()
            used = self._bytes_after_collection = process_bytes()
        self._bytes_after_collection = min(used, self._bytes_after_collection)
        return used

    def add_allocated(self, size: int) -> None:
        """Measure again after many runs that allocated large values, in bytes."""
        self._allocated += size
        if self._allocated > _ALLOCATED:
            self._allocated = 0
            self.forget()

    def forget(self) -> None:
        """Measure again for the next run, because this one may have grown the process."""
        self.known = None


recent_figures: Final = _RecentFigures()


class MemoryMeter:
    """Memory of one run; created at its first memory check.

    Args:
        limit: maximum bytes of the live values.
        figures: the figures of the process when the run started or resumed.

    Attributes:
        charged: bytes of large values reported since the last count.
        soon: with more bytes charged, memory is checked without waiting for the watchdog.
    """

    def __init__(self, limit: int, figures: Figures) -> None:
        self.limit = limit
        self.charged = 0
        self.soon = limit // 8
        self._scale = max(limit, _MIN_LIMIT)
        self._grown = 0
        self._base, self._blocks = figures
        self._blocks_after = 0.0
        self._next_growth = float(limit)
        self._next_made = float(limit)
        self._rest_until = 0.0
        self._counted = True

    def go_on(self, figures: Figures) -> None:
        """Resume: allocations made since it was suspended do not count."""
        used, self._blocks = figures
        self._base = used - self._grown

    def check(self, frame: FrameType | None, tick: Callable[[], None], size: int = 0) -> None:
        """Check the limit; counts the live values only if it may be near.

        Args:
            frame: the innermost frame of the run.
            tick: called during a long count, to check the time.
            size: the size of a value that no frame holds yet.

        Raises:
            LimitExceeded: the live values or the memory of the process exceed the limit.
        """
        recent_figures.forget()
        self._grown = process_bytes() - self._base
        most = _MAX_GROWTH if self._counted else _MAX_UNCOUNTED
        if self._grown > most * self._scale:
            raise memory_exceeded(self.limit, self._grown)
        if self._is_suspicious():
            self._count(frame, tick, size)
        self.soon = self.charged + self.limit // 8

    def _is_suspicious(self) -> bool:
        allocated = self.charged + self._blocks_made() * _BLOCK_BYTES
        if self._grown <= self._next_growth and allocated <= self._next_made:
            return False
        return time.perf_counter() >= self._rest_until or allocated > self._next_made + self.limit

    def _blocks_made(self) -> int:
        """New blocks since the last count; sampled, because counting is slow in a large heap."""
        before = time.perf_counter()
        if before < self._blocks_after:
            return 0
        new_blocks = max(sys.getallocatedblocks() - self._blocks, 0)
        after = time.perf_counter()
        self._blocks_after = after + 50 * (after - before)
        return new_blocks

    def _count(self, frame: FrameType | None, tick: Callable[[], None], size: int) -> None:
        """Add up the values of all frames of the run, from the innermost one outwards."""
        started = time.perf_counter()
        live, self._counted = live_bytes(
            frame_values(frame), enough=self.limit, until=started + _COUNT_S, tick=tick
        )
        if live + size > self.limit:
            raise memory_exceeded(self.limit, live + size)
        self.charged = 0
        self._blocks = sys.getallocatedblocks()
        # counting is slow: the next count waits until much of the remaining memory may be used
        left = max(self.limit - live, self.limit // 8)
        density = min(max(2 * live / max(self._grown, 1), _DENSEST), 1.0)
        self._next_growth = self._grown + left / density
        self._next_made = left
        ended = time.perf_counter()
        self._rest_until = ended + 2 * (ended - started)


def frame_values(frame: FrameType | None) -> list[Any]:
    """The local values of all frames that belong to a program or the library."""
    values: list[Any] = []
    while frame is not None:
        name = frame.f_code.co_filename
        if name == "<hog>" or "hoglet/hog/stdlib" in name:
            values.extend(frame.f_locals.values())
        frame = frame.f_back
    return values


def live_bytes(
    values: list[Any], *, enough: int, until: float, tick: Callable[[], None]
) -> tuple[int, bool]:
    """The charged size of values (shared parts count once), and whether the count is complete.

    A scalar is 8 bytes, a text 8 plus its length, an array 8 plus its items, an object 8 plus its
    keys and values, a function 8 plus its captured variables. Counting stops above ``enough`` bytes
    or at the time ``until``.
    """
    seen = set[int]()
    total, waiting = _charge(values, seen)
    while waiting and total <= enough:
        if len(seen) & ~0x3FFF and time.perf_counter() > until:
            return total, False
        chunk = waiting[-_CHUNK:]
        del waiting[-_CHUNK:]
        added, fresh = _charge(gc.get_referents(*chunk), seen)
        total += added
        waiting.extend(fresh)
        if len(seen) & 0x7FFF < len(chunk):
            tick()
    return total, True


def _charge(items: list[Any], seen: set[int]) -> tuple[int, list[Any]]:
    """The charged size of the items without their parts, and new items that have parts."""
    size, kinds = 8 * len(items), set(map(type, items))
    if str in kinds:
        size += _text_bytes([item for item in items if type(item) is str], seen)
    if kinds.isdisjoint(_OPENED):
        return size, []
    opened = {id(item): item for item in items if type(item) in _OPENED}
    fresh = [item for identity, item in opened.items() if identity not in seen]
    seen.update(opened)
    if FunctionType in kinds:
        cells = [cell for f in fresh if type(f) is FunctionType for cell in f.__closure__ or ()]
        fresh = [item for item in fresh if type(item) is not FunctionType] + cells
    return size, fresh


_OPENED: Final = frozenset({dict, list, FunctionType, *HOLDERS})


def _text_bytes(texts: list[str], seen: set[int]) -> int:
    size = sum(map(len, texts))
    if size <= LARGE:
        return size
    for text in texts:  # only large strings are counted once
        if len(text) > LARGE:
            if id(text) in seen:
                size -= len(text)
            seen.add(id(text))
    return size
