"""The thread that makes runs check their budget periodically.

The thread wakes every few milliseconds while programs run, and sets the ``LIMIT`` of each to
zero; the next loop iteration or call of the program then checks. It sleeps while nothing runs.
"""

import os
import threading
import time
from typing import Final

from hoglet.hog.python.memory import recent_figures
from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.budget import Meter

TICK_S: Final = 0.01
_IDLE_TICKS: Final = 100  # one second, so that the next short run need not wake the thread
_FIGURES_TICKS: Final = 25


class Watchdog:
    """Watches the programs running in this process.

    Attributes:
        awake: whether its thread is ticking; a run that starts while it sleeps has to wake it.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Reset: a child process has its parent's memory, but not its threads."""
        self._is_needed = threading.Event()
        self._thread: threading.Thread | None = None
        self.awake = False

    def wake(self) -> None:
        """Start or wake the thread; called by a run that starts while it sleeps."""
        recent_figures.forget()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._loop, name="hog-watchdog", daemon=True)
            self._thread.start()
        self.awake = True
        self._is_needed.set()

    def _loop(self) -> None:
        while True:
            self._is_needed.wait()
            self._tick_while_busy()
            self.awake = False
            self._is_needed.clear()
            if _runs():  # one started meanwhile
                self.awake = True
                self._is_needed.set()

    def _tick_while_busy(self) -> None:
        idle = ticks = 0
        while idle < _IDLE_TICKS:
            time.sleep(TICK_S)
            runs, ticks = _runs(), ticks + 1
            idle = 0 if runs else idle + 1
            for run in runs:
                run.alarm()
            if not ticks % _FIGURES_TICKS:
                recent_figures.forget()


def _runs() -> list[Meter]:
    """The innermost run of each thread."""
    threads = [thread() for thread in list(meter.threads)]
    return [thread.run for thread in threads if thread is not None and thread.run is not None]


watchdog: Final = Watchdog()
"""The watchdog of this process; its thread starts with the first run, also after a fork."""

os.register_at_fork(after_in_child=watchdog.forget)
