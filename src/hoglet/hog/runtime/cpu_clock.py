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
"""An instant: wall clock, and how far the CPU time of the thread is ahead of it, in seconds."""


class CpuClock:
    """The CPU time of one thread; only that thread may call it.

    Attributes:
        read_at: the wall clock when the CPU time was read last; it is used for a millisecond.
        lead: how far the CPU time was ahead of the wall clock then.

    Example:
        >>> clock = CpuClock()
        >>> clock.since(clock.mark()) < 1
        True
    """

    __slots__ = ("lead", "read_at")

    def __init__(self) -> None:
        self.read_at = -math.inf
        self.lead = 0.0

    def mark(self) -> Mark:
        """The current time; its CPU time is off by at most a millisecond."""
        wall = perf_counter()
        if wall - self.read_at > SHORT_S:
            self.read(wall)
        return wall, self.lead

    def read(self, wall: float) -> None:
        """Read the CPU time at this time of the wall clock."""
        self.read_at, self.lead = wall, thread_time() - wall

    @staticmethod
    def since(mark: Mark) -> float:
        """Seconds of CPU time since a mark of this thread."""
        start, lead = mark
        wall = perf_counter() - start
        return wall if wall < SHORT_S else min(max(thread_time() - start - lead, 0.0), wall)
