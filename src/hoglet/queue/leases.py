"""Keeps leases alive while work is in progress."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta

import structlog

from hoglet.queue.port import Job, Queue

log = structlog.get_logger()

LEASE = timedelta(seconds=60)
_PARTS = 3  # a lease is extended after a third of its duration


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
