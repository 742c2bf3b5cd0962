"""Writes the results of runs for the executor, webhooks and refused runs.

Source: docs/spec/hog-functions.md#7-status-and-the-watcher,
docs/spec/hog-functions.md#10-dead-letters-hoglet-goes-further,
docs/spec/hog-functions.md#134-retries-hoglet-goes-further and
docs/spec/hog-functions.md#135-limits-logs-metrics.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions import pauses as pause_repository
from hoglet.functions.backfills import repository as backfill_repository
from hoglet.functions.dead_letters.service import DeadLetters, NewDeadLetter
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.runtime.messages import Step
from hoglet.functions.watcher.service import RunObservation, Watcher
from hoglet.kit.clock import Clock
from hoglet.pipeline.delivery import ordering as lines
from hoglet.pipeline.delivery.run_record import RunRecord
from hoglet.pipeline.telemetry_outbox import TelemetryBatch, TelemetryOutbox
from hoglet.queue import Queue


class CompletedRun(msgspec.Struct, eq=False, kw_only=True):
    """A run record and everything derived from it.

    Attributes:
        record: logs and metrics of the run.
        has_ended: whether the run is finished.
        letter: dead letter of a failed run.
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
        self._outbox = outbox
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
        await self._watcher.observe(session, seen)
        await pause_repository.keep(session, _pauses(settled))
        await backfill_repository.count_ended(session, _progress(settled), self._clock.now())
        await self._outbox.add(session, messages)
        captures = [job for item in settled for job in item.record.captures]
        await lines.enqueue(session, self._queue, captures)


def _pauses(settled: Sequence[CompletedRun]) -> dict[tuple[UUID, str], datetime]:
    pauses: dict[tuple[UUID, str], datetime] = {}
    for item in settled:
        for host, until in item.record.pauses:
            key = (item.record.invoke.function_id, host)
            pauses[key] = max(until, pauses.get(key, until))
    return pauses


def _progress(settled: Sequence[CompletedRun]) -> dict[UUID, tuple[int, int]]:
    """``{backfill: (succeeded, failed)}`` of finished runs."""
    counts: dict[UUID, list[int]] = defaultdict(lambda: [0, 0])
    for item in settled:
        backfill = item.record.invoke.backfill_id
        if backfill is not None and item.has_ended:
            counts[backfill][item.dead_letter is not None or item.observation is None] += 1
    return {backfill: (good, bad) for backfill, (good, bad) in counts.items()}
