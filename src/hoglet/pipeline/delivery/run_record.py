"""Collects the results of a run: log lines, metrics, a dead letter, an observation.

Source: docs/spec/hog-functions.md#10-dead-letters-hoglet-goes-further,
docs/spec/hog-functions.md#133-functions,
docs/spec/hog-functions.md#134-retries-hoglet-goes-further and
docs/spec/hog-functions.md#135-limits-logs-metrics.
"""

from datetime import datetime, timedelta
from uuid import UUID, uuid5

import msgspec

from hoglet.events.spool import SpooledV1, job_of
from hoglet.functions.dead_letters.service import NewDeadLetter
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import InvokeV1
from hoglet.functions.logs.telemetry import LOG_SOURCE
from hoglet.functions.runtime.messages import RunLogLine, Step
from hoglet.functions.types import DeadLetterClass
from hoglet.functions.watcher.service import RunObservation
from hoglet.kit import tracing
from hoglet.kit.json import dump_storable_json
from hoglet.pipeline.telemetry_outbox import TelemetryBatch
from hoglet.queue import NewJob
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
        self.messages = TelemetryBatch()
        self.captures: list[NewJob] = []
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
        invoke = self.invoke
        self.messages.logs.append(
            LogEntry(
                invoke.project_id,
                LOG_SOURCE,
                str(invoke.function_id),
                str(invoke.invocation_id),
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
        invoke = self.invoke
        self.messages.count(
            invoke.project_id,
            str(invoke.function_id),
            kind,
            name,
            now,
            instance_id=str(invoke.invocation_id),
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
