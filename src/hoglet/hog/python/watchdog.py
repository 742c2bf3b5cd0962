"""CPU time of runs, and the thread that makes them check their budget periodically.

The thread wakes every few milliseconds while programs run, and sets the ``LIMIT`` of each to
zero; the next loop iteration or call of the program then checks. It sleeps while nothing runs.

Asking the system for the CPU time of a thread takes up to two microseconds, as long as a short
program. So a span below a millisecond is measured by the wall clock, which then includes at most a
millisecond of another thread; longer spans are measured in CPU time.
"""

import math
import os
import threading
import time
from time import perf_counter, thread_time
from typing import Final, Protocol

_SHORT_S: Final = 0.001

type Mark = tuple[float, float]
"""An instant: wall clock and CPU time of the thread, in seconds."""


class CpuClock(threading.local):
    """The CPU time of the calling thread.

    Example:
        >>> mark = cpu_clock.mark()
        >>> cpu_clock.since(mark) < 1
        True
    """

    _wall = -math.inf
    _cpu = 0.0

    def mark(self) -> Mark:
        """Now; its CPU time is late by at most a millisecond, never early."""
        wall = perf_counter()
        past = wall - self._wall
        if past > _SHORT_S:
            self._wall, self._cpu = wall, thread_time()
            return wall, self._cpu
        return wall, self._cpu + past

    @staticmethod
    def since(mark: Mark) -> float:
        """Seconds of CPU time since a mark of this thread."""
        wall = perf_counter() - mark[0]
        return wall if wall < _SHORT_S else min(max(thread_time() - mark[1], 0.0), wall)


cpu_clock: Final = CpuClock()
"""The clock of this process; every thread has its own state."""


TICK_S: Final = 0.01
_IDLE_TICKS: Final = 100  # keep ticking for a second, so that short runs need not wake the thread


class Watched(Protocol):
    """A run that can be signalled."""

    def alarm(self) -> None:
        """Called from the watchdog's thread."""
        ...


class Watchdog:
    """Watches the programs running in this process."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Reset: a child process has its parent's memory, but not its threads."""
        self._running: set[Watched] = set()
        self._wanted = threading.Event()
        self._thread: threading.Thread | None = None
        self._awake = False

    def add(self, run: Watched) -> None:
        """A run starts or continues."""
        self._running.add(run)
        if not self._awake:
            self._wake()

    def remove(self, run: Watched) -> None:
        """A run ends or is suspended."""
        self._running.discard(run)

    def _wake(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._loop, name="hog-watchdog", daemon=True)
            self._thread.start()
        self._awake = True
        self._wanted.set()

    def _loop(self) -> None:
        while True:
            self._wanted.wait()
            self._tick_while_busy()
            self._awake = False
            self._wanted.clear()
            if self._running:  # one came in between
                self._awake = True
                self._wanted.set()

    def _tick_while_busy(self) -> None:
        idle = 0
        while idle < _IDLE_TICKS:
            time.sleep(TICK_S)
            runs = list(self._running)
            idle = 0 if runs else idle + 1
            for run in runs:
                run.alarm()


watchdog: Final = Watchdog()
"""The watchdog of this process; its thread starts with the first run, also after a fork."""

os.register_at_fork(after_in_child=watchdog.forget)
