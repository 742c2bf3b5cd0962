"""What every consumer of a queue needs: wake-ups, and leases that are extended while it works."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta

import structlog

from hoglet.kit.clock import until_tick
from hoglet.queue.port import Job, Queue

log = structlog.get_logger(__name__)

LEASE = timedelta(seconds=60)
_PARTS = 3  # a lease is extended after a third of its duration


class Signals:
    """Wakes consumers of this process at once: one wake-up per queue, not lost before a wait."""

    def __init__(self) -> None:
        self._events: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    def wake(self, name: str) -> None:
        """Wake the waiter for ``name``, now or at its next ``wait``."""
        self._events[name].set()

    async def wait(self, name: str, seconds: float) -> None:
        """Return on a wake-up, or after about ``seconds``, together with other waiters."""
        event = self._events[name]
        try:
            async with asyncio.timeout(until_tick(seconds)):
                await event.wait()
        except TimeoutError:
            return
        event.clear()


@contextlib.asynccontextmanager
async def keep_leases(
    queue: Queue, jobs: Sequence[Job], duration: timedelta = LEASE
) -> AsyncGenerator[None]:
    """Extend the leases of jobs by ``duration`` until the block ends."""
    task = asyncio.create_task(_extend(queue, jobs, duration))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _extend(queue: Queue, jobs: Sequence[Job], duration: timedelta) -> None:
    while True:
        await asyncio.sleep(duration.total_seconds() / _PARTS)
        try:
            await queue.extend(jobs, duration)
        except Exception:  # the lease may expire; finishing the job then detects it
            log.exception("extending leases failed", action="extend_failed")
