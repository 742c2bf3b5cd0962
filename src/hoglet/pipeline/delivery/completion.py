"""Commits completed runs in batches, in one transaction with few statements.

A finished run's job is removed and its results are written; a waiting run returns to the queue with
its journal. Runs that end during a commit share the next one. If a shared commit fails, each run is
recorded alone, so that one lost lease does not affect the others. Webhooks write the results of
their runs with the same :class:`CompletionWriter`.

Source: docs/spec/hog-functions.md#7-status-and-the-watcher,
docs/spec/hog-functions.md#10-dead-letters-hoglet-goes-further,
docs/spec/hog-functions.md#134-retries-hoglet-goes-further and
docs/spec/hog-functions.md#135-limits-logs-metrics.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec
from prometheus_client import CollectorRegistry, Counter, Histogram
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions import pauses as pause_repository
from hoglet.functions.backfills import repository as backfill_repository
from hoglet.functions.backfills.repository import BackfillProgress
from hoglet.functions.dead_letters.service import DeadLetters, NewDeadLetter
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import encode
from hoglet.functions.runtime.messages import Step
from hoglet.functions.types import DeadLetterClass
from hoglet.functions.watcher.service import RunObservation, Watcher
from hoglet.kit.clock import Clock
from hoglet.pipeline.delivery import ordering
from hoglet.pipeline.delivery.run import LeaseEnd, RunOutcome, RunRecord
from hoglet.pipeline.telemetry_outbox import TelemetryBatch, TelemetryOutbox
from hoglet.queue import Job, Queue, Retry
from hoglet.store.database import Database


class CompletedRun(msgspec.Struct, eq=False, kw_only=True):
    """A run record and everything derived from it.

    Attributes:
        record: logs and metrics of the run.
        has_ended: whether the run is finished.
        dead_letter: dead letter of a failed run.
        observation: observation for the watcher; None if nothing was executed.
    """

    record: RunRecord
    has_ended: bool
    dead_letter: NewDeadLetter | None = None
    observation: RunObservation | None = None


class CompletionWriter:
    """Writes the results of runs in the caller's transaction; the caller handles their jobs."""

    def __init__(
        self,
        *,
        queue: Queue,
        outbox: TelemetryOutbox,
        dead_letters: DeadLetters,
        watcher: Watcher,
        clock: Clock,
    ) -> None:
        self._queue = queue
        self.outbox = outbox
        self._dead_letters = dead_letters
        self._watcher = watcher
        self._clock = clock

    def settle(
        self, record: RunRecord, function: ExecutableFunction, step: Step | None
    ) -> CompletedRun:
        """Derive the outcome from the last step; None means the run was rescheduled."""
        if step is None:
            return CompletedRun(record=record, has_ended=False)
        dead_letter = record.finish(step, self._clock.now())
        observation = record.observation(function, failed=dead_letter is not None)
        return CompletedRun(
            record=record, has_ended=True, dead_letter=dead_letter, observation=observation
        )

    async def write(self, session: AsyncSession, settled: Sequence[CompletedRun]) -> None:
        """Write dead letters, observations, pauses, progress, logs, metrics and captures."""
        messages = TelemetryBatch()
        for item in settled:
            messages.logs.extend(item.record.messages.logs)
            messages.metrics.extend(item.record.messages.metrics)
        dead_letters = [item.dead_letter for item in settled if item.dead_letter is not None]
        if dead_letters:
            messages.logs.extend(await self._dead_letters.add(session, dead_letters))
        seen = [item.observation for item in settled if item.observation is not None]
        if seen:
            await self._watcher.observe(session, seen)
        if pauses := _pauses(settled):
            await pause_repository.keep(session, pauses)
        if progress := _progress(settled):
            await backfill_repository.count_runs(session, progress, self._clock.now())
        await self.outbox.add(session, messages)
        captures = [job for item in settled for job in item.record.captures]
        if captures:
            await ordering.enqueue(session, self._queue, captures)


def _pauses(settled: Sequence[CompletedRun]) -> dict[tuple[UUID, str], datetime]:
    pauses: dict[tuple[UUID, str], datetime] = {}
    for item in settled:
        for host, until in item.record.pauses:
            key = (item.record.invoke.function_id, host)
            pauses[key] = max(until, pauses.get(key, until))
    return pauses


def _progress(settled: Sequence[CompletedRun]) -> dict[UUID, BackfillProgress]:
    progress: dict[UUID, BackfillProgress] = defaultdict(BackfillProgress)
    for item in settled:
        backfill, further = item.record.invoke.backfill_id, item.record.further_runs
        if backfill is None or not (item.has_ended or further):
            continue
        failed = item.dead_letter is not None or item.observation is None
        counted = progress[backfill]
        progress[backfill] = BackfillProgress(
            succeeded=counted.succeeded + (item.has_ended and not failed),
            failed=counted.failed + (item.has_ended and failed),
            further=counted.further + further,
        )
    return progress


_DELIVERY_BUCKETS_S = (0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400)


class DeliveryMetrics:
    """Delivery metrics of a process with the role executor."""

    def __init__(self, registry: CollectorRegistry) -> None:
        deliveries = Counter(
            "hoglet_deliveries",
            "Steps of runs by outcome: succeeded, failed (a dead letter), skipped "
            "(function disabled or deleted), retried (continued later).",
            ("outcome",),
            registry=registry,
        )
        self._outcomes = {
            outcome: deliveries.labels(outcome)
            for outcome in ("succeeded", "failed", "skipped", "retried")
        }
        self._seconds = Histogram(
            "hoglet_delivery_seconds",
            "Time from enqueuing a run to its end, including retries.",
            buckets=_DELIVERY_BUCKETS_S,
            registry=registry,
        )

    def committed(self, runs: Sequence[tuple[Job, CompletedRun]], now: datetime) -> None:
        """Count runs whose outcomes are on disk."""
        for job, run in runs:
            self._outcomes[_outcome(run)].inc()
            if run.has_ended:
                self._seconds.observe(max((now - job.enqueued_at).total_seconds(), 0.0))


def _outcome(run: CompletedRun) -> str:
    if not run.has_ended:
        return "retried"
    if run.dead_letter is not None:
        return "failed"
    return "skipped" if run.observation is None else "succeeded"


MAX_AT_ONCE = 256
# After a commit of many runs, more are about to end, so waiting for them saves commits. A single
# run is committed at once, and nothing waits after a run with an ordering key: its next run is
# about to end, and the one after that waits for it.
MANY = 4
GATHER_SECONDS = 0.05


class _Waiting(msgspec.Struct, eq=False):
    """A run waiting for its commit; ``later`` is set if the run continues."""

    job: Job
    settled: CompletedRun
    done: asyncio.Future[None]
    later: RunOutcome | None = None


def _is_ordered(item: _Waiting) -> bool:
    return item.job.ordering_key is not None


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
        """End a run without executing it; ``why`` None writes no dead letter.

        Raises:
            LeaseLost: see :meth:`commit`.
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
        await done

    async def _commit_all(self) -> None:
        try:
            while self._waiting:
                taken = self._waiting[:MAX_AT_ONCE]
                self._waiting = self._waiting[MAX_AT_ONCE:]
                await self._commit(taken)
                is_full = len(self._waiting) >= MAX_AT_ONCE
                if len(taken) >= MANY and not is_full and not any(map(_is_ordered, taken)):
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
        waiting = [(item.job, item.later) for item in taken if item.later is not None]
        await self._queue.retry_all(session, [self._retry(*each) for each in waiting])
        await self._writer.write(session, [item.settled for item in taken])
        if any(job.ordering_key for job in ended):
            await ordering.advance(session, self._queue, ended)

    def _retry(self, job: Job, ending: RunOutcome) -> Retry:
        assert ending.invoke is not None, "a waiting run has one"  # noqa: S101 (narrows the type)
        return Retry(job, ending.run_at or self._clock.now(), encode(ending.invoke))
