"""Test runs of stored or unsaved functions on one event, with mocked or real requests.

Masking, the watcher and limits do not apply, and nothing is stored.

Source: docs/spec/hog-functions.md#92-invocations-test-run.
"""

from typing import Any
from uuid import UUID

import msgspec

from hoglet.access.principals import Project, ProjectScope
from hoglet.functions import types
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.json_types import Globals, ProjectGlobal
from hoglet.functions.loader import executable_from_values, unreadable_secrets
from hoglet.functions.runtime.globals import project_globals, source_globals
from hoglet.functions.runtime.host_calls import HostCalls, new_journal, resume
from hoglet.functions.runtime.messages import StepRequest
from hoglet.functions.service import FunctionService
from hoglet.functions.tables import HogFunctionRow
from hoglet.functions.test_runs.configuration import (
    configured_values,
    find_function,
    of_configuration,
    requested_configuration,
)
from hoglet.functions.test_runs.globals import read_globals, refused_test_run
from hoglet.functions.test_runs.result import (
    HostCallStub,
    SandboxClient,
    TestRunObject,
    TestRunResult,
)
from hoglet.kit.clock import new_id
from hoglet.kit.errors import Invalid
from hoglet.kit.json import JsonObject, is_object
from hoglet.sandbox import Sandbox, SandboxCrashed, SandboxTimedOut
from hoglet.web.validation import Body, validate

STEP_SECONDS = 8.0  # the filter can take 5 s, the program 550 ms; beyond that, the worker is killed


class TestRunFields(Body):
    """The scalar fields of a test run's body."""

    mock_async_functions: bool = True
    trace: bool = False


class TestRunService:
    """Runs functions on test events.

    Args:
        functions: the functions.
        sandbox: runs ``functions.match``, ``functions.run_step`` and ``functions.transform``.
        calls: performs requests if mocks are off.
        site_url: address of this server, for the globals.
    """

    def __init__(
        self, functions: FunctionService, sandbox: Sandbox, calls: HostCalls, site_url: str
    ) -> None:
        self._functions = functions
        self._sandbox = sandbox
        self._calls = calls
        self._site_url = site_url

    async def run(self, scope: ProjectScope, function_id: str, body: JsonObject) -> TestRunObject:
        """Run one test.

        Returns:
            ``{"result": None, "status": "success", "errors": [], "logs": [{...}]}``.

        Raises:
            Invalid: an invalid configuration (attr ``configuration__…``), event or type.
        """
        invocation_id = _read_invocation_id(body.get("invocation_id"))
        fields = validate(TestRunFields, body)
        is_mocked = fields.mock_async_functions
        row = await find_function(self._functions, scope, function_id)
        function = await self.executable(scope, row, body)
        if function.type not in types.TESTABLE:
            raise refused_test_run("Functions of this type cannot be tested.", attr="type")
        run = self._globals(scope.project, function, body)
        result = TestRunResult(self._functions.clock.now(), with_trace=fields.trace)
        worker = SandboxClient(self._sandbox)
        try:
            if function.type in types.ORDERED:
                site: ProjectGlobal = {"id": scope.project.id, "name": "", "url": self._site_url}
                await self._transform(worker, function, run, site, result)
            else:
                calls = None if is_mocked else self._calls
                caller = HostCallStub(calls, function, invocation_id, result)
                await self._deliver(worker, function, run, caller, result)
        except (SandboxTimedOut, SandboxCrashed) as error:
            result.fail(error.detail)
        return result.answer()

    def _globals(self, project: Project, function: ExecutableFunction, body: JsonObject) -> Globals:
        globals_ = project_globals(
            project_id=project.id, name=project.name, site_url=self._site_url
        )
        return read_globals(
            body,
            project=globals_,
            source=source_globals(
                project_url=globals_["url"], function_id=function.id, name=function.name
            ),
            now=self._functions.clock.now(),
            name_properties=project.person_display_name_properties,
        )

    async def executable(
        self, scope: ProjectScope, row: HogFunctionRow | None, body: JsonObject
    ) -> ExecutableFunction:
        """The function that a test runs: the stored one with the configuration in the request.

        Raises:
            Invalid: a bad configuration (attr ``configuration__…``).
        """
        configuration = requested_configuration(self._functions, row, body)
        if configuration is None and row is None:
            raise Invalid("This field is required.", code="required", attr="configuration")
        values = await configured_values(self._functions, scope, row, configuration or {})
        reason = values["filters"].get("bytecode_error")
        if reason:
            attr = "filters__non_field_errors"
            raise of_configuration(Invalid(f"The filter is not valid: {reason}", attr=attr))
        function = executable_from_values(
            values, function_id=str(row.id) if row else "new", project_id=scope.project.id
        )
        problem = unreadable_secrets(row, values, self._functions.box)
        return await self._functions.loader.resolved(
            msgspec.structs.replace(function, problem=problem)
        )

    async def _transform(
        self,
        worker: SandboxClient,
        function: ExecutableFunction,
        run: Globals,
        project: ProjectGlobal,
        result: TestRunResult,
    ) -> None:
        now = self._functions.clock.now().isoformat()
        is_log = function.type == types.TRANSFORMATION_LOG
        subject = run.get("record") if is_log else None
        event = subject if is_object(subject) else run["event"]
        done = await worker.transform(
            function, event, project, now, with_trace=result.trace is not None
        )
        result.log_all(done.logs)
        result.note_trace(done.trace)
        result.result = done.event
        if done.error is not None:
            result.fail(done.error)
        elif done.outcome == "skipped":
            result.status = "skipped"

    async def _deliver(
        self,
        worker: SandboxClient,
        function: ExecutableFunction,
        run: Globals,
        caller: HostCallStub,
        result: TestRunResult,
    ) -> None:
        match, reasons = await worker.match(function, run)
        if match.error is not None:
            result.log("error", f"Error filtering event {run['event']['uuid']}: {match.error}")
            result.fail(match.error)
            return
        for number in match.unmatched:
            mapping = function.mapping(number)
            name = (mapping and mapping.name) or f"number {number + 1}"
            result.log(
                "info", f"The mapping {name} does not match the event: {reasons[str(number)]}"
            )
        if match.outcome != "matched" or match.mappings == []:
            result.status = "skipped"
            result.log(
                "info", f"Skipped: {reasons.get('', 'no enabled mapping matches the event')}"
            )
            return
        for mapping in match.mappings or [None]:
            await self._run_one(worker, function, run, caller, result, mapping=mapping)

    async def _run_one(
        self,
        worker: SandboxClient,
        function: ExecutableFunction,
        run: Globals,
        caller: HostCallStub,
        result: TestRunResult,
        *,
        mapping: int | None,
    ) -> None:
        now = self._functions.clock.now()
        journal = new_journal(now, caller.invocation_id.int & 0x7FFF_FFFF)
        while True:
            request = StepRequest(
                function=function,
                globals=run,
                journal=journal,
                mapping=mapping,
                with_rendering=True,
                with_trace=result.trace is not None,
            )
            step = await worker.step(request)
            result.log_all(step.logs)
            result.note_captures(step)
            if step.outcome != "call" or step.call is None:
                break
            outcome = await caller.make(step.call, mapping)
            journal = resume(step, outcome.answer, has_answer=outcome.has_answer)
        result.note_trace(step.trace)
        if step.error is not None:
            result.fail(step.error)


def _read_invocation_id(value: Any) -> UUID:
    if value is None:
        return new_id()
    try:
        return UUID(str(value))
    except ValueError:
        raise refused_test_run("The invocation id must be a UUID.", attr="invocation_id") from None
