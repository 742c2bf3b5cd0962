"""Records runs started by incoming webhooks and enqueues those that have to wait.

Source: docs/spec/hog-functions.md#137-source_webhook.
"""

from uuid import UUID

import msgspec

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import INVOKE_QUEUE, InvokeV1, encode
from hoglet.functions.runtime.messages import Step
from hoglet.kit.clock import Clock, new_id
from hoglet.pipeline.delivery.completion import CompletedRun, CompletionWriter
from hoglet.pipeline.delivery.run import RunRecord
from hoglet.queue import NewJob, Priority, Queue
from hoglet.store.database import Database


class WebhookCompletion:
    """Records steps of webhook functions, each in one transaction."""

    def __init__(
        self, *, database: Database, queue: Queue, writer: CompletionWriter, clock: Clock
    ) -> None:
        self._database = database
        self._queue = queue
        self._writer = writer
        self._clock = clock

    async def __call__(self, function: ExecutableFunction, invoke: InvokeV1, step: Step) -> None:
        """Record the results of a step; a run with a pending host call is enqueued."""
        now = self._clock.now()
        record = RunRecord(invoke, now)
        record.hog_ms = step.milliseconds
        record.log_all(step.logs, now)
        record.capture(step, now)
        if step.error_class != "inputs":
            record.count("other", "triggered", now)
        waits = step.outcome == "call"
        settled = self._writer.settle(record, function, None if waits else step)
        async with self._database.write() as session:
            if waits:
                waiting = msgspec.structs.replace(
                    invoke, journal=step.journal, logged_until=record.logged_until
                )
                await self._queue.enqueue(session, [_job(waiting, Priority.NORMAL)])
            await self._writer.write(session, [settled])

    async def enqueue(self, invoke: InvokeV1) -> None:
        """Enqueue a run of a degraded function with low priority."""
        now = self._clock.now()
        record = RunRecord(invoke, now)
        record.count("other", "triggered", now)
        async with self._database.write() as session:
            await self._queue.enqueue(session, [_job(invoke, Priority.LOW)])
            await self._writer.write(session, [CompletedRun(record=record, has_ended=False)])

    async def refuse(self, project_id: int, function_id: UUID) -> None:
        """Count a refused request; its sender gets an error, so there is no dead letter."""
        now = self._clock.now()
        run = new_id()
        record = RunRecord(
            InvokeV1(project_id=project_id, function_id=function_id, invocation_id=run, globals={}),
            now,
        )
        record.count("failure", "disabled_permanently", now)
        async with self._database.write() as session:
            await self._writer.write(session, [CompletedRun(record=record, has_ended=True)])


def _job(invoke: InvokeV1, priority: Priority) -> NewJob:
    return NewJob(
        queue=INVOKE_QUEUE,
        payload=encode(invoke),
        id=invoke.invocation_id,
        priority=priority,
        lane=str(invoke.function_id),
    )
