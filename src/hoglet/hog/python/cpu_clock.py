"""Processor time of a thread, cheap to ask for short spans.

Asking the system for the processor time of a thread takes up to two microseconds, as long as a
short program. So a span below a millisecond is measured by the wall clock, which then shows at
most a millisecond that another thread had; longer spans are measured in processor time.
"""

import math
import threading
from time import perf_counter, thread_time
from typing import Final

_SHORT_S: Final = 0.001

type Mark = tuple[float, float]
"""An instant: by the wall clock, and in processor time of the thread. Seconds."""


class CpuClock(threading.local):
    """The processor time of the thread that asks.

    Example:
        >>> mark = cpu_clock.mark()
        >>> cpu_clock.since(mark) < 1
        True
    """

    _wall = -math.inf
    _cpu = 0.0

    def mark(self) -> Mark:
        """Now; its processor time is late by at most a millisecond, never early."""
        wall = perf_counter()
        past = wall - self._wall
        if past > _SHORT_S:
            self._wall, self._cpu = wall, thread_time()
            return wall, self._cpu
        return wall, self._cpu + past

    @staticmethod
    def since(mark: Mark) -> float:
        """Seconds of processor time since a mark of this thread."""
        wall = perf_counter() - mark[0]
        return wall if wall < _SHORT_S else min(max(thread_time() - mark[1], 0.0), wall)


cpu_clock: Final = CpuClock()
"""The one of this process; every thread has its own state."""
