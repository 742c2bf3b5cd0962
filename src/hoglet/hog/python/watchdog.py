"""A thread that makes running programs check their budget periodically.

It wakes every few milliseconds while programs run, and sets the ``LIMIT`` of each of them to
zero; the next loop iteration or call of the program then checks. It sleeps while nothing runs.
"""

import os
import threading
import time
from typing import Final, Protocol

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
