"""Executes a leased run from the state in its journal until it ends or has to wait.

The program runs in a sandbox worker; its host calls are performed here, in the server process. The
results of host calls are in the journal, which is stored in the job: if this process dies, the run
is leased again and continues there. Source: docs/spec/hog-functions.md#131-pipeline-destinations,
docs/spec/hog-functions.md#132-globals-and-inputs, docs/spec/hog-functions.md#133-functions,
docs/spec/hog-functions.md#134-retries-hoglet-goes-further and
docs/spec/hog-functions.md#135-limits-logs-metrics.
"""

from datetime import datetime, timedelta
from enum import Enum, auto
from uuid import uuid5

import msgspec

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import INVOKE_QUEUE, InvokeV1, encode
from hoglet.functions.json_types import Globals
from hoglet.functions.runtime.messages import Step, StepHostCall, StepRequest, new_journal, resume
from hoglet.functions.runtime.redaction import clean_line, secret_texts
from hoglet.kit.clock import Clock
from hoglet.pipeline.delivery.attempt import Attempt, HostCallAttempts, host_of
from hoglet.pipeline.delivery.host_limits import HostLimiter
from hoglet.pipeline.delivery.run_record import RunRecord
from hoglet.pipeline.delivery.step_batcher import StepBatcher
from hoglet.queue import NewJob, Priority


class LeaseEnd(Enum):
    """What happens to a run at the end of its lease."""

    ENDED = auto()
    WAITS = auto()


class RunOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The run ``ENDED`` with ``step``, or ``WAITS`` until ``run_at`` and continues as ``invoke``.

    ``host_unavailable``: the host is busy, slow or paused, which affects other runs too.
    """

    lease_end: LeaseEnd
    record: RunRecord
    step: Step | None = None
    invoke: InvokeV1 | None = None
    run_at: datetime | None = None
    host_unavailable: bool = False


class InvocationRunner:
    """Executes runs; stateless."""

    def __init__(
        self, stepper: StepBatcher, deliveries: HostCallAttempts, hosts: HostLimiter, clock: Clock
    ) -> None:
        self._stepper = stepper
        self._deliveries = deliveries
        self._hosts = hosts
        self._clock = clock

    async def run(
        self,
        function: ExecutableFunction,
        invoke: InvokeV1,
        events: list[Globals] | None = None,
    ) -> RunOutcome:
        """Execute a run until it ends or has to wait; ``events`` are the globals of a batch."""
        record = RunRecord(invoke, self._clock.now())
        journal = invoke.journal or new_journal(
            self._clock.now(), invoke.invocation_id.int & 0x7FFF_FFFF
        )
        invoke = msgspec.structs.replace(invoke, journal=journal)
        while True:
            step = await self._step(function, invoke, record, events)
            if invoke.start_at == "filter":
                invoke = record.invoke = self._past_filter(invoke, step, record)
            if step.outcome != "call" or step.call is None:
                return RunOutcome(lease_end=LeaseEnd.ENDED, record=record, step=step)
            invoke = msgspec.structs.replace(invoke, journal=step.journal)
            record.invoke = invoke
            waits = await self._call(function, invoke, record, step.call)
            if isinstance(waits, RunOutcome):
                return waits
            journal = resume(step, waits.answer, waits.milliseconds, has_answer=waits.has_answer)
            invoke = msgspec.structs.replace(invoke, journal=journal, attempt=1)
            record.invoke = invoke

    def retry_at(self, function: ExecutableFunction, invoke: InvokeV1) -> datetime | None:
        """When an event that failed in a batch is due again; None if it is not retried."""
        return self._deliveries.retry_at(function, invoke)

    async def _step(
        self,
        function: ExecutableFunction,
        invoke: InvokeV1,
        record: RunRecord,
        events: list[Globals] | None,
    ) -> Step:
        journal = invoke.journal
        assert journal is not None, "run() makes one"  # noqa: S101 (narrows the type)
        request = StepRequest(
            function=function,
            globals=invoke.globals,
            journal=journal,
            mapping=invoke.mapping,
            from_filter=invoke.start_at == "filter",
            events=events,
        )
        step = await self._stepper.step(request)
        now = self._clock.now()
        record.hog_ms += step.milliseconds
        if not (step.is_filtered and invoke.backfill_id):  # a replay skips most events
            record.log_all(step.logs, now)
        record.capture(step, now)
        return step

    def _past_filter(self, invoke: InvokeV1, step: Step, record: RunRecord) -> InvokeV1:
        """Continue a redriven run after its filter; other matching mappings get their own runs."""
        if step.error_class == "filter":
            return invoke
        for mapping in step.mappings[1:]:
            run = uuid5(invoke.invocation_id, f"mapping {mapping}")
            further = msgspec.structs.replace(
                invoke, invocation_id=run, mapping=mapping, start_at="inputs", journal=None
            )
            lane = str(invoke.backfill_id or invoke.function_id)
            job = NewJob(
                queue=INVOKE_QUEUE,
                payload=encode(further),
                id=run,
                priority=Priority.LOW,
                lane=lane,
            )
            record.captures.append(job)
        mapping = step.mappings[0] if step.mappings else None
        return msgspec.structs.replace(invoke, mapping=mapping, start_at="inputs")

    async def _call(
        self,
        function: ExecutableFunction,
        invoke: InvokeV1,
        record: RunRecord,
        call: StepHostCall,
    ) -> Attempt | RunOutcome:
        """Make one attempt. Requests contain secrets, so a waiting run stores only the journal."""
        host = host_of(call.request)
        lane = str(invoke.backfill_id or function.id)
        async with self._hosts.acquire(function, host, lane) as again_at:
            if again_at is not None:
                return RunOutcome(
                    lease_end=LeaseEnd.WAITS,
                    record=record,
                    invoke=invoke,
                    run_at=again_at,
                    host_unavailable=True,
                )
            attempt = await self._deliveries.attempt(function, invoke, call)
        now = self._clock.now()
        if attempt.pause_until is not None:
            self._hosts.pause(function.id, host, attempt.pause_until)
            record.pauses.append((host, attempt.pause_until))
        self._record(record, call, attempt, now, function)
        if attempt.retry_at is None:
            record.count(*_completed(call, attempt), now)
            return attempt
        record.count("other", "retried", now)
        later = msgspec.structs.replace(
            invoke,
            attempt=invoke.attempt + 1,
            first_failed_at=invoke.first_failed_at or now.isoformat(),
            failing_since=invoke.failing_since or now.isoformat(),
        )
        return RunOutcome(
            lease_end=LeaseEnd.WAITS, record=record, invoke=later, run_at=attempt.retry_at
        )

    def _record(
        self,
        record: RunRecord,
        call: StepHostCall,
        attempt: Attempt,
        now: datetime,
        function: ExecutableFunction,
    ) -> None:
        record.async_ms.append(attempt.milliseconds)
        record.attempts = record.invoke.attempt
        if attempt.problem is not None:
            self._log_failure(record, call, attempt, now, function)
        if attempt.note is not None:
            record.log("info", attempt.note, now)

    def _log_failure(
        self,
        record: RunRecord,
        call: StepHostCall,
        attempt: Attempt,
        now: datetime,
        function: ExecutableFunction,
    ) -> None:
        what_next = "no further attempts"
        if attempt.retry_at is not None:
            wait = max(timedelta(0), attempt.retry_at - now).total_seconds()
            what_next = f"next attempt in {wait:.1f} s"
        number = record.invoke.attempt
        text = f"Attempt {number} of {call.name} failed: {attempt.problem}; {what_next}"
        secrets = secret_texts(function.inputs_of(record.invoke.mapping), {})
        record.log("error", clean_line(text, secrets), now)  # it may contain the URL


def _completed(call: StepHostCall, attempt: Attempt) -> tuple[str, str]:
    """Kind and name of the metric for a completed call."""
    if call.name == "fetch":
        return "other", "fetch"
    return "email", "email_failed" if attempt.problem else "email_sent"
