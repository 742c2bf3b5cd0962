"""Keeping leases while work goes on."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta

import structlog

from hoglet.queue import Job, Queue

log = structlog.get_logger()

LEASE = timedelta(seconds=60)
_EXTEND_EVERY_S = 20.0


@contextlib.asynccontextmanager
async def keep_leases(queue: Queue, jobs: Sequence[Job]) -> AsyncGenerator[None]:
    """Extend the leases of jobs until the block ends."""
    task = asyncio.create_task(_extend(queue, jobs))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _extend(queue: Queue, jobs: Sequence[Job]) -> None:
    while True:
        await asyncio.sleep(_EXTEND_EVERY_S)
        try:
            await queue.extend(jobs, LEASE)
        except Exception:  # the lease may run out then, and finishing will tell
            log.exception("leases were not extended", action="extend_failed")
