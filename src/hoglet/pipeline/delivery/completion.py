"""Commits completed runs in batches, in one transaction with few statements.

A finished run's job is removed and its results are written; a waiting run returns to the queue with
its journal. Runs that end during a commit share the next one. If a shared commit fails, each run is
recorded alone, so that one lost lease does not affect the others.
"""

import asyncio
from collections.abc import Sequence

import msgspec
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import encode
from hoglet.functions.types import DeadLetterClass
from hoglet.kit.clock import Clock
from hoglet.pipeline.delivery import ordering as lines
from hoglet.pipeline.delivery.completion_writer import (
    CompletedRun,
    CompletionWriter,
)
from hoglet.pipeline.delivery.metrics import DeliveryMetrics
from hoglet.pipeline.delivery.run import LeaseEnd, RunOutcome
from hoglet.pipeline.delivery.run_record import RunRecord
from hoglet.queue import Job, Queue
from hoglet.store.database import Database

MOST_AT_ONCE = 256
# After a commit of many runs, more are about to end, so waiting for them saves commits. A single
# run is committed at once, because the next run of its ordering key may be waiting for it.
MANY = 4
GATHER_SECONDS = 0.02


class _Waiting(msgspec.Struct, eq=False):
    """A run waiting for its commit; ``later`` is set if the run continues."""

    job: Job
    settled: CompletedRun
    done: asyncio.Future[None]
    later: RunOutcome | None = None


class CompletionBatcher:
    """Records completed runs.

    Concurrency: any number of tasks may wait; one task at a time commits for all.
    """

    def __init__(
        self,
        *,
        database: Database,
        queue: Queue,
        writer: CompletionWriter,
        metrics: DeliveryMetrics,
        clock: Clock,
    ) -> None:
        self._database = database
        self._queue = queue
        self._writer = writer
        self._metrics = metrics
        self._clock = clock
        self._waiting: list[_Waiting] = []
        self._committer: asyncio.Task[None] | None = None

    async def commit(self, job: Job, function: ExecutableFunction, ending: RunOutcome) -> None:
        """Return once the outcome is on disk.

        Raises:
            LeaseLost: another worker holds the job; nothing was recorded.
        """
        has_ended = ending.lease_end is LeaseEnd.ENDED
        settled = self._writer.settle(ending.record, function, ending.step if has_ended else None)
        await self._wait(job, settled, None if has_ended else ending)

    async def refuse(
        self,
        job: Job,
        record: RunRecord,
        *,
        why: str | None,
        error_class: DeadLetterClass = "disabled",
    ) -> None:
        """End a run without executing it; ``why`` is the reason in its dead letter, None for none.

        Raises:
            LeaseLost: as in :meth:`commit`.
        """
        dead_letter = None if why is None else record.dead_letter(error_class, why)
        await self._wait(
            job, CompletedRun(record=record, has_ended=True, dead_letter=dead_letter), None
        )

    async def _wait(self, job: Job, settled: CompletedRun, later: RunOutcome | None) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(job, settled, done, later))
        if self._committer is None:
            self._committer = asyncio.create_task(self._commit_all())
        await asyncio.shield(done)

    async def _commit_all(self) -> None:
        try:
            while self._waiting:
                taken = self._waiting[:MOST_AT_ONCE]
                self._waiting = self._waiting[MOST_AT_ONCE:]
                await self._commit(taken)
                if len(taken) >= MANY and len(self._waiting) < MOST_AT_ONCE:
                    await asyncio.sleep(GATHER_SECONDS)
        finally:
            self._committer = None

    async def _commit(self, taken: Sequence[_Waiting]) -> None:
        try:
            async with self._database.write() as session:
                await self._write(session, taken)
        except Exception as error:  # noqa: BLE001 (raised in the waiting task)
            if len(taken) > 1:
                for item in taken:
                    await self._commit([item])
            elif not taken[0].done.cancelled():
                taken[0].done.set_exception(error)
            return
        self._metrics.committed([(item.job, item.settled) for item in taken], self._clock.now())
        for item in taken:
            if not item.done.cancelled():
                item.done.set_result(None)

    async def _write(self, session: AsyncSession, taken: Sequence[_Waiting]) -> None:
        ended = [item.job for item in taken if item.later is None]
        await self._queue.finish(session, ended)
        for item in taken:
            if item.later is not None:
                await self._give_back(session, item.job, item.later)
        await self._writer.write(session, [item.settled for item in taken])
        await lines.advance(session, self._queue, ended)

    async def _give_back(self, session: AsyncSession, job: Job, ending: RunOutcome) -> None:
        assert ending.invoke is not None, "a waiting run has one"  # noqa: S101 (narrows the type)
        run_at = ending.run_at or self._clock.now()
        await self._queue.retry(session, job, run_at=run_at, payload=encode(ending.invoke))
