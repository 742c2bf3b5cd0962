"""Helpers of a test run: typed sandbox client, result builder, host-call stub.

Source: docs/spec/hog-functions.md#92-invocations-test-run.
"""

from datetime import datetime, timedelta
from typing import Any, Literal, NotRequired, TypedDict
from uuid import UUID

import msgspec

from hoglet.functions.executable.messages import Match, MatchAnswer, TransformationResult
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.json_types import EventGlobal, Globals, ProjectGlobal
from hoglet.functions.runtime.host_calls import HostCallResult, HostCalls
from hoglet.functions.runtime.messages import RunLogLine, Step, StepHostCall, StepRequest
from hoglet.functions.runtime.redaction import clean_line, secret_texts
from hoglet.hog.runtime.trace import TraceStep
from hoglet.kit.clock import iso_z
from hoglet.kit.json import JsonObject
from hoglet.sandbox import Sandbox
from hoglet.web.openapi import documented, extensible

# Paths of operations, so that the server does not import what only workers run.
_MATCH = "hoglet.functions.worker_operations:match"
_RUN_STEP = "hoglet.functions.worker_operations:run_step"
_TRANSFORM = "hoglet.functions.worker_operations:transform_event"

STEP_SECONDS = 8.0  # the filter can take 5 s, the program 550 ms; beyond that, the worker is killed


type TestRunStatus = Literal["success", "error", "skipped"]


@documented
class TestRunLogLine(TypedDict):
    """One line of a test run."""

    level: str
    timestamp: str
    message: str


@extensible
class TestRunObject(TypedDict):
    """The result of a test run; ``trace`` only if it was requested."""

    result: Any
    status: TestRunStatus
    errors: list[str]
    logs: list[TestRunLogLine]
    trace: NotRequired[list[JsonObject]]


class SandboxClient:
    """The operations of the sandbox, typed."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def match(
        self, function: ExecutableFunction, run: Globals
    ) -> tuple[Match, dict[str, str]]:
        """Evaluate the function's filters."""
        payload = {"function": msgspec.to_builtins(function), "globals": run}
        answer: MatchAnswer = await self._sandbox.call(_MATCH, payload, deadline=STEP_SECONDS)
        return msgspec.convert(answer["match"], Match), answer["reasons"]

    async def step(self, request: StepRequest) -> Step:
        """Run one step."""
        payload = msgspec.to_builtins(request)
        answer = await self._sandbox.call(_RUN_STEP, payload, deadline=STEP_SECONDS)
        return msgspec.convert(answer, Step)

    async def transform(
        self,
        function: ExecutableFunction,
        event: EventGlobal,
        project: ProjectGlobal,
        now: str,
        **options: Any,
    ) -> TransformationResult:
        """Run a transformation; ``options`` are those of ``functions.transform``."""
        payload = {
            "function": msgspec.to_builtins(function),
            "event": event,
            "project": project,
            "now": now,
            **options,
        }
        answer = await self._sandbox.call(_TRANSFORM, payload, deadline=STEP_SECONDS)
        return msgspec.convert(answer, TransformationResult)


class TestRunResult:
    """Accumulates the result of a test run."""

    def __init__(self, started_at: datetime, *, with_trace: bool = False) -> None:
        self.result: Any = None
        self.trace: list[TraceStep] | None = [] if with_trace else None
        self.status: TestRunStatus = "success"
        self._errors: list[str] = []
        self._logs: list[TestRunLogLine] = []
        self._at = started_at

    def log(self, level: str, message: str) -> None:
        """Add a log line, a millisecond after the previous one, so that they sort."""
        self._logs.append({"level": level, "timestamp": iso_z(self._at), "message": message})
        self._at += timedelta(milliseconds=1)

    def log_all(self, lines: list[RunLogLine]) -> None:
        """Add the log lines of a step."""
        for line in lines:
            self.log(line.level, line.message)

    def note_captures(self, step: Step) -> None:
        """Log events that a stored function would capture."""
        for captured in step.captures:
            self.log("info", f"Test runs do not capture events; skipped {captured['event']}")

    def fail(self, error: str) -> None:
        """Record why the run failed."""
        self.status = "error"
        self._errors.append(error)

    def note_trace(self, steps: list[TraceStep]) -> None:
        """Add the statements that ran, if the request wants a trace."""
        if self.trace is not None:
            self.trace += steps

    def answer(self) -> TestRunObject:
        """The response body."""
        answer: TestRunObject = {
            "result": self.result,
            "status": self.status,
            "errors": self._errors,
            "logs": self._logs,
        }
        if self.trace is not None:
            answer["trace"] = msgspec.to_builtins(self.trace)
        return answer


class HostCallStub:
    """Answers host calls with mocks, or performs them if ``calls`` is set."""

    def __init__(
        self,
        calls: HostCalls | None,
        function: ExecutableFunction,
        invocation_id: UUID,
        result: TestRunResult,
    ) -> None:
        self._calls = calls
        self._function = function
        self._calls_made = 0
        self.invocation_id = invocation_id
        self._result = result

    async def make(self, call: StepHostCall, mapping: int | None) -> HostCallResult:
        """Perform a call of a run with that mapping, or mock its result."""
        if self._calls is None:
            return HostCallResult(answer=self._mock(call), has_answer=True)
        result = await self._calls.make(
            self._function.project_id,
            call,
            invocation_id=self.invocation_id,
            number=self._calls_made,
            attempt=1,
        )
        self._calls_made += 1
        secrets = secret_texts(self._function.inputs_of(mapping), {})
        if result.problem is not None and not result.problem.startswith("status "):
            self._result.log("error", clean_line(result.problem, secrets))
        if result.note is not None:
            self._result.log("info", clean_line(result.note, secrets))
        return result

    def _mock(self, call: StepHostCall) -> Any:
        self._result.log("info", f"Async function '{call.name}' was mocked with arguments:")
        self._result.log("info", call.rendered)
        return {"status": 200, "body": {}}
