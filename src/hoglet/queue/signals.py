"""Wake-ups inside one process, so that workers can start at once without busy polling."""

import asyncio
from collections import defaultdict


class Signals:
    """One wake-up per queue; a wake-up before the wait is not lost."""

    def __init__(self) -> None:
        self._events: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    def wake(self, name: str) -> None:
        """Wake the waiter for ``name``, now or at its next ``wait``."""
        self._events[name].set()

    async def wait(self, name: str, seconds: float) -> None:
        """Return on a wake-up, or after ``seconds``."""
        event = self._events[name]
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return
        event.clear()
