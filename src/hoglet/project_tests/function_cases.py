"""Runs test cases of functions with the parts of the pipeline."""

import re
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import msgspec

from hoglet.access.principals import ProjectScope
from hoglet.functions import types
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import InvokeV1
from hoglet.functions.json_types import Globals, ProjectGlobal
from hoglet.functions.loader import integration_ids, with_integrations
from hoglet.functions.runtime.globals import (
    group_globals,
    person_globals,
    project_globals,
    source_globals,
)
from hoglet.functions.runtime.messages import Pinned, Step, StepRequest
from hoglet.functions.test_runs.globals import read_globals
from hoglet.functions.test_runs.result import SandboxClient
from hoglet.hog.runtime.trace import TraceStep
from hoglet.kit.errors import HogletError
from hoglet.pipeline.delivery.attempt import HostCallAttempts
from hoglet.pipeline.delivery.host_limits import HostLimiter
from hoglet.pipeline.delivery.run import InvocationRunner, LeaseEnd, RunOutcome
from hoglet.pipeline.delivery.step_batcher import StepBatcher
from hoglet.project_files.documents import FunctionDocument, InputDocument
from hoglet.project_files.formats.function_file import SITE_TYPES, read_function, read_input
from hoglet.project_files.formats.references import Names, with_ids
from hoglet.project_tests.case_events import BadTestFile
from hoglet.project_tests.case_types import CaseEvent, Results, RunStatus
from hoglet.project_tests.cases import Case
from hoglet.project_tests.comparison import differences
from hoglet.project_tests.embedded import Embedded
from hoglet.project_tests.outcome import CaseOutcome
from hoglet.project_tests.scripted_calls import ScriptedCalls

_NAMESPACE = UUID("8f0d2c0e-9d0e-5a63-9f6c-3f6f3a1c7a11")
_CLOSING = re.compile(r"^Function completed in ")
_SENT = ("name", "type", "hog", "filters", "inputs_schema", "inputs", "masking", "mappings",
         "retry", "delivery", "template_id")  # fmt: skip


class _TracedSteps(StepBatcher):
    """Runs steps with a trace at a fixed time; the last trace covers the whole run."""

    async def step(self, request: StepRequest) -> Step:
        request.with_trace = True
        request.pinned = Pinned(request.journal.started_at, request.journal.seed)
        step = await super().step(request)
        self.trace = step.trace
        return step

    trace: list[TraceStep] = []  # noqa: RUF012 (replaced, never changed)


class FunctionCases:
    """Runs cases of functions in one project of an embedded application.

    Args:
        embedded: the application.
        scope: the project with the actions that filters refer to.
        names: maps those actions and cohorts to ids.
    """

    def __init__(self, embedded: Embedded, scope: ProjectScope, names: Names) -> None:
        self._embedded = embedded
        self._scope = scope
        self._names = names
        self._sandbox = embedded.services.sandboxes.run

    async def run(self, case: Case) -> CaseOutcome:
        """Run a case; an error, such as a function that cannot be saved, is an outcome too."""
        self._embedded.clock.at = case.now
        outcome = CaseOutcome(case)
        document = read_function(case.subject)
        if document["type"] in SITE_TYPES:
            raise BadTestFile(f"{case.path}:{case.line}: site functions run in browsers only.")
        try:
            function = await self._executable(document, case)
            run = self._globals(function, case)
        except HogletError as error:
            attr = (error.attr or "").removeprefix("configuration__")
            prefix = f"{attr}: " if attr else ""
            outcome.differences = [f"the function cannot be used: {prefix}{error.detail}"]
            return outcome
        if function.type in types.ORDERED:
            await self._transform(function, run, outcome)
        else:
            await self._deliver(function, run, case, outcome)
        outcome.differences = differences(case.body["expect"], outcome.actual)
        return outcome

    async def _executable(self, document: FunctionDocument, case: Case) -> ExecutableFunction:
        configuration = with_ids({key: document[key] for key in _SENT}, self._names)
        configuration = {k: v for k, v in configuration.items() if v is not None}
        inputs = {key: _placeholder(value) for key, value in document["inputs"].items()}
        given = case.body.get("inputs") or {}
        inputs |= {key: _value(case.path, key, value) for key, value in given.items()}
        configuration["inputs"] = inputs
        configuration["mappings"] = [
            {
                **mapping,
                "inputs": {
                    key: _placeholder(value) for key, value in (mapping.get("inputs") or {}).items()
                },
            }
            for mapping in configuration["mappings"]
        ]
        service = self._embedded.features.functions.test_runs
        body = {"configuration": configuration}
        function = await service.executable(self._scope, None, body)
        function = msgspec.structs.replace(function, id=str(uuid5(_NAMESPACE, case.subject.name)))
        return with_integrations(
            function, {each: _integration(each) for each in integration_ids(function)}
        )

    def _globals(self, function: ExecutableFunction, case: Case) -> Globals:
        project = project_globals(
            project_id=self._scope.project.id, name="Tests", site_url="http://hoglet.test"
        )
        source = source_globals(
            project_url=project["url"], function_id=function.id, name=function.name
        )
        event: CaseEvent = {**(case.body.get("event") or {"event": "", "properties": {}})}
        distinct_id = event.setdefault("distinct_id", "test")
        event.setdefault("uuid", str(_case_uuid(case)))
        given: Globals = {"event": event}
        person = case.body.get("person")
        if person is not None:
            default = person_globals(
                project_url=project["url"],
                person_id=str(uuid5(_NAMESPACE, str(distinct_id))),
                properties=person.get("properties") or {},
                distinct_id=str(distinct_id),
                name_properties=self._scope.project.person_display_name_properties,
            )
            given["person"] = {**default, **person, "properties": default["properties"]}
        given["groups"] = _groups(case, project["url"])
        for key in ("request", "record"):
            if (value := case.body.get(key)) is not None:
                given[key] = value
        return read_globals(
            {"globals": given},
            project=project,
            source=source,
            now=case.now,
            name_properties=self._scope.project.person_display_name_properties,
        )

    async def _transform(
        self, function: ExecutableFunction, run: Globals, outcome: CaseOutcome
    ) -> None:
        is_log = function.type == types.TRANSFORMATION_LOG
        subject = run.get("record") if is_log else run["event"]
        project: ProjectGlobal = {
            "id": self._scope.project.id,
            "name": "",
            "url": "http://hoglet.test",
        }
        done = await SandboxClient(self._sandbox).transform(
            function,
            subject or {},
            project,
            outcome.case.now.isoformat(),
            with_trace=True,
            pinned={"now": outcome.case.now.isoformat()},
        )
        outcome.trace = list(done.trace)
        outcome.logs = _printed([line.message for line in done.logs])
        statuses: dict[str, RunStatus] = {
            "succeeded": "success",
            "dropped": "success",
            "skipped": "filtered",
        }
        outcome.actual = {
            "matched": done.outcome != "skipped",
            "status": statuses.get(done.outcome, "failed"),
            "requests": [],
            "logs": list(outcome.logs),
            "event": done.event,
            "record": done.event if is_log else None,
            "error": done.error,
            "captures": [],
            "emails": [],
            "result": done.event,
        }

    async def _deliver(
        self, function: ExecutableFunction, run: Globals, case: Case, outcome: CaseOutcome
    ) -> None:
        calls = ScriptedCalls(case.body.get("fetch") or [])
        actual: Results = {
            "matched": True,
            "status": "success",
            "requests": calls.requests,
            "logs": [],
            "result": None,
            "event": run["event"],
            "record": None,
            "error": None,
            "captures": [],
            "emails": calls.emails,
        }
        outcome.actual = actual
        match, reasons = await SandboxClient(self._sandbox).match(function, run)
        if match.outcome == "failed":
            actual |= {"matched": False, "status": "failed", "error": match.error}
            return
        if match.outcome != "matched" or match.mappings == []:
            is_filtered = match.outcome != "matched"
            actual |= {"matched": False, "status": "filtered" if is_filtered else "skipped"}
            outcome.logs = [f"Skipped: {reason}" for reason in reasons.values()]
            return
        for mapping in match.mappings or [None]:
            await self._run(function, run, calls, mapping=mapping, outcome=outcome)
        actual["logs"] = list(outcome.logs)

    async def _run(
        self,
        function: ExecutableFunction,
        run: Globals,
        calls: ScriptedCalls,
        *,
        mapping: int | None,
        outcome: CaseOutcome,
    ) -> None:
        """Run to the end; instead of waiting for the next attempt, advance the clock."""
        clock = self._embedded.clock
        steps = _TracedSteps(self._sandbox)
        attempts = HostCallAttempts(calls, clock, lambda: 0.5)
        runner = InvocationRunner(steps, attempts, HostLimiter(clock), clock)
        invoke = InvokeV1(
            project_id=self._scope.project.id,
            function_id=UUID(function.id),
            invocation_id=_case_uuid(outcome.case, mapping),
            globals=run,
            mapping=mapping,
        )
        while True:
            ended: RunOutcome = await runner.run(function, invoke)
            outcome.logs += _printed([line.message for line in ended.record.messages.logs])
            if ended.lease_end is LeaseEnd.ENDED:
                break
            assert ended.invoke is not None, "a waiting run must have a continuation"  # noqa: S101
            invoke = ended.invoke
            clock.at = max(clock.at, ended.run_at or clock.at)
        outcome.trace += steps.trace
        step = ended.step
        if step is None:
            return
        captures = outcome.actual.setdefault("captures", [])
        captures += [dict(each) for each in step.captures]
        if step.outcome == "failed":
            outcome.actual |= {"status": "failed", "error": step.error}
        else:
            outcome.actual["result"] = step.result


def _groups(case: Case, project_url: str) -> dict[str, Any]:
    """The groups of a case by type, numbered in its order."""
    groups = case.body.get("groups") or {}
    return {
        name: group_globals(
            project_url=project_url,
            group_type=name,
            index=number,
            key=str(group.get("key", group.get("id", ""))),
            properties=group.get("properties") or {},
        )
        for number, (name, group) in enumerate(groups.items())
    }


def _case_uuid(case: Case, mapping: int | None = None) -> UUID:
    """A UUID derived from names, not from the folder's path, so that it is the same everywhere."""
    part = "" if mapping is None else f" {mapping}"
    return uuid5(_NAMESPACE, f"{case.subject.name}: {case.name}{part}")


def _integration(integration_id: int) -> dict[str, str]:
    """A stand-in for an integration as programs see it; real ones exist on servers only."""
    return {"access_token": f"integration-{integration_id}"}


def _printed(lines: list[str]) -> list[str]:
    """The log lines without the closing one, whose figures vary between runs."""
    return [line for line in lines if not _CLOSING.match(line)]


def _placeholder(value: InputDocument) -> InputDocument:
    """A placeholder value for a secret, which has none in files; cases can override it."""
    if secret := value.get("secret"):
        return {"value": str(secret).removeprefix("env:")}
    return value.copy()


def _value(path: Path, key: str, value: Any) -> InputDocument:
    return _placeholder(read_input(path, key, value))
