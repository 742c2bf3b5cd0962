"""Executes a leased run from the state in its journal until it ends or has to wait.

The program runs in a sandbox worker; its host calls are performed here, in the server process. The
results of host calls are in the journal, which is stored in the job: if this process dies, the run
is leased again and continues there. What a lease leaves behind (log lines, metrics, captured
events, a dead letter) is collected in a :class:`RunRecord`, for the commit that ends it.

Source: docs/spec/hog-functions.md#10-dead-letters-hoglet-goes-further,
docs/spec/hog-functions.md#131-pipeline-destinations,
docs/spec/hog-functions.md#132-globals-and-inputs, docs/spec/hog-functions.md#133-functions,
docs/spec/hog-functions.md#134-retries-hoglet-goes-further and
docs/spec/hog-functions.md#135-limits-logs-metrics.
"""

from datetime import datetime, timedelta
from enum import Enum, auto
from uuid import UUID, uuid5

import msgspec

from hoglet.events.spool import SpooledV1, job_of
from hoglet.functions.dead_letters.service import NewDeadLetter
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import INVOKE_QUEUE, InvokeV1, encode, line_of
from hoglet.functions.json_types import Globals
from hoglet.functions.logs.telemetry import LOG_SOURCE
from hoglet.functions.runtime.host_calls import new_journal, resume
from hoglet.functions.runtime.messages import RunLogLine, Step, StepHostCall, StepRequest
from hoglet.functions.runtime.redaction import clean_line, secret_texts
from hoglet.functions.types import DeadLetterClass
from hoglet.functions.watcher.service import RunObservation
from hoglet.kit import tracing
from hoglet.kit.clock import Clock
from hoglet.kit.json import dump_storable_json
from hoglet.pipeline.delivery.attempt import Attempt, HostCallAttempts, host_of
from hoglet.pipeline.delivery.host_limits import HostLimiter
from hoglet.pipeline.delivery.step_batcher import StepBatcher
from hoglet.pipeline.telemetry_outbox import TelemetryBatch
from hoglet.queue import NewJob, Priority
from hoglet.warehouse.telemetry import LogEntry

_MILLISECOND = timedelta(milliseconds=1)
# Kind and name of the metrics for failures before the program started.
_FAILURES = {"filter": ("other", "filtering_failed"), "inputs": ("failure", "inputs_failed")}


class RunRecord:
    """Collects logs and metrics of one lease of a run, for the commit that ends it.

    Args:
        invoke: the run.
        now: time of its first line; lines of the same millisecond are placed 1 ms apart.
    """

    def __init__(self, invoke: InvokeV1, now: datetime) -> None:
        self.invoke = invoke
        self._function_id = str(invoke.function_id)
        self._invocation_id = str(invoke.invocation_id)
        self.messages = TelemetryBatch()
        self.captures: list[NewJob] = []
        self.further_runs = 0  # of other mappings, in `captures`
        self.async_ms: list[float] = []
        self.attempts = invoke.attempt  # of the last host call
        self.pauses: list[tuple[str, datetime]] = []
        self.hog_ms = 0.0
        self._next_line_at = now
        if invoke.logged_until is not None:
            last = datetime.fromisoformat(invoke.logged_until)
            self._next_line_at = max(now, last + _MILLISECOND)

    @property
    def logged_until(self) -> str:
        """ISO time of the last line, for ``InvokeV1``."""
        return (self._next_line_at - _MILLISECOND).isoformat()

    def log(self, level: str, message: str, now: datetime) -> None:
        """Add a line."""
        at = max(now, self._next_line_at)
        self._next_line_at = at + _MILLISECOND
        self.messages.logs.append(
            LogEntry(
                self.invoke.project_id,
                LOG_SOURCE,
                self._function_id,
                self._invocation_id,
                at,
                level.upper(),
                message,
            )
        )

    def log_all(self, lines: list[RunLogLine], now: datetime) -> None:
        """Add the lines of a step."""
        for line in lines:
            self.log(line.level, line.message, now)

    def count(self, kind: str, name: str, now: datetime) -> None:
        """Increment a metric."""
        self.messages.count(
            self.invoke.project_id,
            self._function_id,
            kind,
            name,
            now,
            instance_id=self._invocation_id,
        )

    def capture(self, step: Step, now: datetime) -> None:
        """Collect the events that the program captured as jobs with deterministic ids."""
        for index, event in enumerate(step.captures):
            uuid = uuid5(self.invoke.invocation_id, f"capture {index}")
            body = dump_storable_json(
                {"batch": [{**event, "uuid": str(uuid), "timestamp": now.isoformat()}]}
            ).encode()
            spooled = SpooledV1(
                project_id=self.invoke.project_id,
                received_at=now,
                ip=None,
                body=body,
                trace=tracing.parent_header(),
            )
            self.captures.append(msgspec.structs.replace(job_of(spooled, events=1), id=uuid))

    def finish(self, step: Step, now: datetime) -> NewDeadLetter | None:
        """Record the end of the run; returns a dead letter if it failed."""
        if self.invoke.is_redrive:
            self.count("other", "redriven", now)
        if step.outcome == "finished":
            if step.is_filtered:
                self.count("other", "filtered", now)
            else:
                self.count("success", "succeeded", now)
            return None
        self.count(*_FAILURES.get(step.error_class or "", ("failure", "failed")), now)
        self.count("other", "dead_lettered", now)
        return self.dead_letter(step.error_class or "hog", step.error or "unknown error")

    def dead_letter(self, error_class: DeadLetterClass, error: str) -> NewDeadLetter:
        """Build a dead letter for this run."""
        invoke = self.invoke
        first = invoke.first_failed_at
        return NewDeadLetter(
            project_id=invoke.project_id,
            function_id=invoke.function_id,
            error_class=error_class,
            invocation_id=invoke.invocation_id,
            globals=invoke.globals,
            error=error,
            attempts=self.attempts,
            mapping=invoke.mapping,
            first_failed_at=datetime.fromisoformat(first) if first else None,
        )

    def observation(self, function: ExecutableFunction, *, failed: bool) -> RunObservation:
        """The observation for the watcher."""
        return RunObservation(
            function_id=UUID(function.id),
            failed=failed,
            timings=[("hog", self.hog_ms), *(("async", ms) for ms in self.async_ms)],
        )


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
                invoke = record.invoke = self._past_filter(function, invoke, step, record)
            if step.outcome != "call" or step.call is None:
                if not record.async_ms:
                    self._hosts.forget(_lane(function, invoke))
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

    def _past_filter(
        self, function: ExecutableFunction, invoke: InvokeV1, step: Step, record: RunRecord
    ) -> InvokeV1:
        """Continue a redriven run after its filter; other matching mappings get their own runs."""
        if step.error_class == "filter":
            return invoke
        for mapping in step.mappings[1:]:
            run = uuid5(invoke.invocation_id, f"mapping {mapping}")
            further = msgspec.structs.replace(
                invoke, invocation_id=run, mapping=mapping, start_at="inputs", journal=None
            )
            job = NewJob(
                queue=INVOKE_QUEUE,
                payload=encode(further),
                id=run,
                priority=Priority.LOW,
                ordering_key=_line(function, invoke),
                lane=_lane(function, invoke),
            )
            record.captures.append(job)
        record.further_runs = len(step.mappings[1:])
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
        lane = _lane(function, invoke)
        async with self._hosts.acquire(function, host, lane) as slot:
            if slot.again_at is not None:
                return RunOutcome(
                    lease_end=LeaseEnd.WAITS,
                    record=record,
                    invoke=invoke,
                    run_at=slot.again_at,
                    host_unavailable=True,
                )
            attempt = await self._deliveries.attempt(function, invoke, call)
            slot.answered = attempt.has_answer
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
        if attempt.problem is None and attempt.note is None:
            return
        secrets = secret_texts(function.inputs_of(record.invoke.mapping), {})
        if attempt.problem is not None:
            text = _failure_text(record, call, attempt, now)
            record.log("error", clean_line(text, secrets), now)  # it may contain the URL
        if attempt.note is not None:
            record.log("info", clean_line(attempt.note, secrets), now)


def _lane(function: ExecutableFunction, invoke: InvokeV1) -> str:
    return str(invoke.backfill_id or function.id)


def _line(function: ExecutableFunction, invoke: InvokeV1) -> str | None:
    """The ordering key of a run of an ordered function."""
    if not function.delivery.ordered_by:
        return None
    distinct_id = invoke.globals.get("event", {}).get("distinct_id") or ""
    return line_of(function.id, distinct_id, backfill=str(invoke.backfill_id or ""))


def _failure_text(record: RunRecord, call: StepHostCall, attempt: Attempt, now: datetime) -> str:
    what_next = "no further attempts"
    if attempt.retry_at is not None:
        wait = max(timedelta(0), attempt.retry_at - now).total_seconds()
        what_next = f"next attempt in {wait:.1f} s"
    number = record.invoke.attempt
    return f"Attempt {number} of {call.name} failed: {attempt.problem}; {what_next}"


def _completed(call: StepHostCall, attempt: Attempt) -> tuple[str, str]:
    """Kind and name of the metric for a completed call."""
    if call.name == "fetch":
        return "other", "fetch"
    return "email", "email_failed" if attempt.problem else "email_sent"
