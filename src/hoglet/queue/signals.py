"""Wake-ups inside one process, so that a worker need not poll hotly to start at once."""

import asyncio
from collections import defaultdict


class Signals:
    """One wake-up per queue name. A wake-up before the wait is not lost."""

    def __init__(self) -> None:
        self._events: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    def wake(self, name: str) -> None:
        """Wake whoever waits for ``name``, now or at its next ``wait``."""
        self._events[name].set()

    async def wait(self, name: str, seconds: float) -> None:
        """Return on a wake-up, or after ``seconds`` at the latest."""
        event = self._events[name]
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return
        event.clear()
