"""Detects that the system clock was set back and reschedules jobs that used the old time."""

import asyncio

import structlog
from sqlalchemy.exc import SQLAlchemyError

from hoglet.queue.port import Queue

LOOK_EVERY_S = 30.0

log = structlog.get_logger()


class ClockSteps:
    """Every 30 seconds, looks for jobs scheduled too far in the future."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Run until :meth:`stop`."""
        while not self._stopping.is_set():
            try:
                moved = await self._queue.catch_up()
            except SQLAlchemyError:
                log.exception("checking for clock steps failed", action="catch_up_failed")
            else:
                if moved:
                    log.warning("the clock was set back", action="clock_set_back", jobs=moved)
            try:
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._stopping.wait()
            except TimeoutError:
                continue

    def stop(self) -> None:
        """Make :meth:`run` return."""
        self._stopping.set()
