"""Runs that an incoming webhook started: what they leave behind, and those that go on in a queue.

Source: spec/hog-functions.md section 13.7.
"""

import msgspec
from sqlalchemy.ext.asyncio import AsyncSession

from hoglet.functions.dead_letters import DeadLetters
from hoglet.functions.execution import Step
from hoglet.functions.jobs import INVOKE_QUEUE, InvokeV1, encode
from hoglet.functions.runnable import RunnableFunction
from hoglet.functions.watcher import Watcher
from hoglet.kit.clock import Clock
from hoglet.pipeline.outbox import TelemetryOutbox
from hoglet.pipeline.outcome import RunRecord
from hoglet.queue import NewJob, Priority, Queue
from hoglet.store.database import Database


class WebhookRuns:
    """Records steps of webhook functions, each in one transaction."""

    def __init__(
        self,
        *,
        database: Database,
        queue: Queue,
        outbox: TelemetryOutbox,
        letters: DeadLetters,
        watcher: Watcher,
        clock: Clock,
    ) -> None:
        self._database = database
        self._queue = queue
        self._outbox = outbox
        self._letters = letters
        self._watcher = watcher
        self._clock = clock

    async def __call__(self, function: RunnableFunction, invoke: InvokeV1, step: Step) -> None:
        """Keep what a step left behind; one that waits for a host call is enqueued."""
        now = self._clock.now()
        record = RunRecord(invoke, now)
        record.hog_ms = step.milliseconds
        record.log_all(step.logs, now)
        record.capture(step, now)
        record.count("other", "triggered", now)
        async with self._database.write() as session:
            if step.outcome == "call":
                waiting = msgspec.structs.replace(invoke, journal=step.journal)
                await self._queue.enqueue(session, [_job(waiting, Priority.NORMAL)])
            else:
                await self._end(session, function, record, step)
            await self._outbox.add(session, record.messages)
            await self._queue.enqueue(session, record.captures)

    async def enqueue(self, invoke: InvokeV1) -> None:
        """Queue a run of a degraded function, behind the others."""
        now = self._clock.now()
        record = RunRecord(invoke, now)
        record.count("other", "triggered", now)
        async with self._database.write() as session:
            await self._queue.enqueue(session, [_job(invoke, Priority.LOW)])
            await self._outbox.add(session, record.messages)

    async def _end(
        self, session: AsyncSession, function: RunnableFunction, record: RunRecord, step: Step
    ) -> None:
        letter = record.finish(step, self._clock.now())
        if letter is not None:
            await self._letters.add(session, [letter])
        observation = record.observation(function, failed=letter is not None)
        await self._watcher.observe(session, [observation])


def _job(invoke: InvokeV1, priority: Priority) -> NewJob:
    return NewJob(
        queue=INVOKE_QUEUE, payload=encode(invoke), id=invoke.invocation_id, priority=priority
    )
