"""Bounds how long a server takes to stop.

Everything accepted is on disk, and what is in progress is leased: it is due again after the next
start, and a delivery that is cut off is repeated under the same id. So a process that ends in the
middle of its work loses nothing (tests/fault/test_kill.py), and need not wait for a query that runs
for minutes or a client that does not read.

Source: docs/adr/0074-bounded-stop.md.
"""

import os
import threading

import structlog

LIMIT_SECONDS = 30.0
"""Also in docs/operating.md; deploy/hoglet.service and the compose files wait longer."""

log = structlog.get_logger()


class StopLimit:
    """Ends the process if it has not stopped in time.

    Args:
        seconds: from :meth:`begin` to the end.
    """

    def __init__(self, seconds: float = LIMIT_SECONDS) -> None:
        self._seconds = seconds
        self._timer: threading.Timer | None = None

    @property
    def has_begun(self) -> bool:
        """Whether the server is stopping."""
        return self._timer is not None

    def begin(self) -> None:
        """Begin to stop; a thread counts the time, since the event loop may be blocked."""
        if self._timer is None:
            self._timer = threading.Timer(self._seconds, self._expire)
            self._timer.daemon = True
            self._timer.start()

    def end_now(self) -> None:
        """End the process at once, as if it was killed."""
        os._exit(1)

    def _expire(self) -> None:
        log.warning("stopped without waiting any longer", action="stop_cut_off")
        self.end_now()
