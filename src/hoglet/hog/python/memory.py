"""How much the live values of a run are worth, counted from its Python frames.

Nothing is counted while a program runs normally. Large values report themselves; small ones are
noticed by the number of allocated blocks of the interpreter. Only when these hint that the limit
may be near are all values reachable from the run's frames added up, by the rules of section 10.
"""

import sys
import time
from collections.abc import Callable
from types import CellType, FrameType, FunctionType
from typing import Any, Final

from hoglet.hog.runtime.convert import sizes_of

_BLOCK_BYTES: Final = 24  # a small value is charged about this much per allocated block


# Counting blocks takes 35 us in a worker that holds a batch of events, as long as a small program:
# a number a little too old serves as well, since it only hints at when to look closely.
_RECENT_S: Final = 0.25
_recent: list[float] = [0, float("-inf")]  # blocks, and when they were counted


def _recent_blocks() -> int:
    now = time.perf_counter()
    if now - _recent[1] > _RECENT_S:
        _recent[:] = [sys.getallocatedblocks(), now]
    return int(_recent[0])


class MemoryMeter:
    """Memory of one run.

    Attributes:
        charged: bytes of large values reported since the last count.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.charged = 0
        self._blocks = 0
        self._next = limit
        self._rest_until = 0.0

    def start(self) -> None:
        """The run starts or goes on: blocks of others do not count."""
        self._blocks = _recent_blocks()

    def is_suspicious(self) -> bool:
        """Whether so much was made since the last count that the limit may be passed."""
        grown = max(sys.getallocatedblocks() - self._blocks, 0)
        made = self.charged + grown * _BLOCK_BYTES
        if made <= self._next:
            return False
        return time.perf_counter() >= self._rest_until or made > 2 * self.limit

    def count(
        self, frame: FrameType | None, main_file: str, look: Callable[[], None] | None = None
    ) -> int:
        """Add up the values of all frames of the run, from the innermost one outwards.

        ``look`` is called on the way, since counting millions of values takes its time.
        """
        started = time.perf_counter()
        values = list[Any]()
        while frame is not None:
            if (
                frame.f_code.co_filename == main_file
                or "hoglet/hog/stl" in frame.f_code.co_filename
            ):
                values.extend(frame.f_locals.values())
            frame = frame.f_back
        live = sizes_of(_opened(values), enough=self.limit, look=look)
        self.charged = 0
        self._blocks = sys.getallocatedblocks()
        # counting takes time: it is not done again before an eighth more may have been made
        self._next = max(self.limit - live, self.limit // 8)
        ended = time.perf_counter()
        self._rest_until = ended + 2 * (ended - started)
        return live


def _opened(values: list[Any]) -> list[Any]:
    """The values, those inside closures included."""
    seen, result, waiting = set[int](), list[Any](), list(values)
    while waiting:
        value = waiting.pop()
        if type(value) is FunctionType and id(value) not in seen:
            seen.add(id(value))
            waiting.extend(_cell_values(value))
        else:
            result.append(value)
    return result


def _cell_values(function: FunctionType) -> list[Any]:
    cells: tuple[CellType, ...] = function.__closure__ or ()
    values: list[Any] = []
    for cell in cells:
        try:
            values.append(cell.cell_contents)
        except ValueError:  # not assigned yet
            continue
    return values
