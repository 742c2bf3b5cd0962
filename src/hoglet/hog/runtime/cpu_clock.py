"""CPU time of runs.

Reading the CPU time of a thread takes up to two microseconds, which is how long a short program
runs. So a span below a millisecond is measured by the wall clock, which then includes at most a
millisecond of another thread; longer spans are measured in CPU time.
"""

import math
from time import perf_counter, thread_time
from typing import Final

SHORT_S: Final = 0.001

type Mark = tuple[float, float]
"""An instant: wall clock and CPU time of the thread, in seconds."""


class CpuClock:
    """The CPU time of one thread; only that thread may call it.

    Example:
        >>> clock = CpuClock()
        >>> clock.since(clock.mark()) < 1
        True
    """

    __slots__ = ("_cpu", "_wall")

    def __init__(self) -> None:
        self._wall = -math.inf
        self._cpu = 0.0

    def mark(self) -> Mark:
        """The current time; its CPU time lags by at most a millisecond, and never leads."""
        wall = perf_counter()
        past = wall - self._wall
        if past > SHORT_S:
            self._wall, self._cpu = wall, thread_time()
            return wall, self._cpu
        return wall, self._cpu + past

    @staticmethod
    def since(mark: Mark) -> float:
        """Seconds of CPU time since a mark of this thread."""
        wall = perf_counter() - mark[0]
        return wall if wall < SHORT_S else min(max(thread_time() - mark[1], 0.0), wall)
