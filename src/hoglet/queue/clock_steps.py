"""Notices that the machine's clock was set back, and keeps waiting jobs from waiting for it."""

import asyncio

import structlog
from sqlalchemy.exc import SQLAlchemyError

from hoglet.queue.port import Queue

LOOK_EVERY_S = 30.0

log = structlog.get_logger()


class ClockSteps:
    """Looks for jobs of the future every half a minute until it is stopped."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Look until :meth:`stop`."""
        while not self._stopping.is_set():
            try:
                moved = await self._queue.catch_up()
            except SQLAlchemyError:
                log.exception("jobs could not be looked at", action="catch_up_failed")
            else:
                if moved:
                    log.warning("the clock was set back", action="clock_set_back", jobs=moved)
            try:
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._stopping.wait()
            except TimeoutError:
                continue

    def stop(self) -> None:
        """Let :meth:`run` end."""
        self._stopping.set()
