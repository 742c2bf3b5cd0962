"""Compiles filters again after an action or the test-account rule they use has changed.

Source: docs/spec/hog-functions.md#55-bytecode_error.
"""

import asyncio
from datetime import timedelta

import structlog

from hoglet.access.service import AccessService
from hoglet.functions.compile.recompile import recompile
from hoglet.functions.jobs import RECOMPILE_QUEUE, decode_recompile
from hoglet.functions.service import FunctionService
from hoglet.kit.clock import Clock
from hoglet.pipeline.leases import LEASE, keep_leases
from hoglet.queue import Job, LeaseLost, Queue
from hoglet.store.database import Database

log = structlog.get_logger()

IDLE = timedelta(seconds=2)
RETRY = timedelta(seconds=10)
MOST_ATTEMPTS = 5


class Recompiler:
    """Works ``functions.recompile`` off; compiling twice changes nothing."""

    def __init__(
        self,
        *,
        queue: Queue,
        database: Database,
        functions: FunctionService,
        access: AccessService,
        clock: Clock,
    ) -> None:
        self._queue = queue
        self._database = database
        self._functions = functions
        self._access = access
        self._clock = clock
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Work until :meth:`stop`."""
        while not self._stopping.is_set():
            jobs = await self._queue.lease(RECOMPILE_QUEUE, limit=1, duration=LEASE)
            for job in jobs:
                await self._do(job)
            if not jobs:
                await self._queue.wait(RECOMPILE_QUEUE, IDLE)

    def stop(self) -> None:
        """Let :meth:`run` end."""
        self._stopping.set()
        self._queue.wake(RECOMPILE_QUEUE)

    async def _do(self, job: Job) -> None:
        try:
            async with keep_leases(self._queue, [job]):
                await self._recompile(job)
            async with self._database.write() as session:
                await self._queue.finish(session, [job])
        except LeaseLost:
            return
        except Exception:
            log.exception("filters could not be compiled again", action="recompile_failed")
            await self._later(job)

    async def _recompile(self, job: Job) -> None:
        wanted = decode_recompile(job.payload)
        project = await self._access.project(wanted.project_id)
        if project is not None:
            await recompile(
                self._functions, project, action_id=wanted.action_id, property_name=wanted.property
            )

    async def _later(self, job: Job) -> None:
        async with self._database.write() as session:
            if job.attempt >= MOST_ATTEMPTS:
                await self._queue.bury(session, job, "failed again and again; see the log")
            else:
                await self._queue.retry(session, job, run_at=self._clock.now() + RETRY)
