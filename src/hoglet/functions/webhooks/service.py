"""Functions that run on requests to a public URL.

Source: docs/spec/hog-functions.md#137-source_webhook.
"""

import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypedDict
from urllib.parse import parse_qsl
from uuid import UUID

import msgspec

from hoglet.access.principals import Project
from hoglet.functions import repository, types
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import InvokeV1
from hoglet.functions.json_types import Globals
from hoglet.functions.loader import executable_from_row
from hoglet.functions.runtime.globals import (
    EventFields,
    event_globals,
    project_globals,
    source_globals,
)
from hoglet.functions.runtime.host_calls import new_journal
from hoglet.functions.runtime.messages import Step, StepRequest
from hoglet.functions.service import FunctionService
from hoglet.functions.watcher.rules import LOW_PRIORITY, NOT_RUN
from hoglet.kit.clock import iso_z, new_id
from hoglet.kit.errors import NotFound, Throttled
from hoglet.kit.json import JsonObject, dump_json, encode_utf8, is_object, parse_json
from hoglet.sandbox import Sandbox, SandboxCrashed, SandboxTimedOut

# The path of an operation, so that the server does not import what only workers run.
_RUN_STEP = "hoglet.functions.worker_operations:run_step"

EVENT_NAME = "$incoming_webhook"
STEP_SECONDS = 8.0  # inputs and program; beyond that, the worker is killed
_DISABLED_SECONDS = 60  # retry time for callers of a disabled function
_DROPPED = frozenset({"cookie", "referer", "x-real-ip", "forwarded"})
_SAFE_TYPES = frozenset({"text/plain", "application/json", "text/csv", "application/x-ndjson"})
_IMAGE_TYPES = frozenset({"image/png", "image/gif", "image/jpeg", "image/webp"})
_BINARY = "application/octet-stream"
_STANDARD_ALPHABET = str.maketrans("-_", "+/")  # accepts base64url too, as Node does
_FORM = "application/x-www-form-urlencoded"


class Incoming(NamedTuple):
    """A request; ``ip`` is the client's address as far as it can be trusted."""

    method: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    ip: str
    body: bytes


class WebhookAnswer(NamedTuple):
    """The response: bytes with a type, an object for JSON, or nothing."""

    status: int
    body: bytes | JsonObject | list[Any] | None = None
    content_type: str | None = None


class RecordStep(Protocol):
    """Records the effects of a step: logs, metrics, captured events, a dead letter.

    A step with a pending host call is enqueued for the executor.
    """

    async def __call__(self, function: ExecutableFunction, invoke: InvokeV1, step: Step) -> None:
        """Record a step durably, before responding."""
        ...

    async def enqueue(self, invoke: InvokeV1) -> None:
        """Enqueue a run of a degraded function."""
        ...

    async def refuse(self, project_id: int, function_id: UUID) -> None:
        """Count a request to a function that the watcher or an administrator disabled."""
        ...


class Webhooks:
    """Runs functions of type ``source_webhook``.

    Args:
        functions: the functions.
        sandbox: runs ``worker_operations.run_step``.
        record: records the effects of a run.
        projects: looks up projects by id.
        site_url: address of this server, for the globals.
    """

    def __init__(
        self,
        functions: FunctionService,
        sandbox: Sandbox,
        record: RecordStep,
        projects: Callable[[int], Awaitable[Project | None]],
        site_url: str,
    ) -> None:
        self._functions = functions
        self._sandbox = sandbox
        self._record = record
        self._projects = projects
        self._site_url = site_url

    async def handle(self, name: str, incoming: Incoming) -> WebhookAnswer:
        """Run the function of a webhook URL.

        Args:
            name: the function's id, optionally with an extension: ``0198….json``.
            incoming: the request.

        Raises:
            NotFound: no such function, disabled, or of another type.
            Throttled: the watcher or an administrator disabled it.
        """
        function = await self._find(name.partition(".")[0])
        if function.state in NOT_RUN:
            await self._record.refuse(function.project_id, UUID(function.id))
            detail = "This function is disabled."
            raise Throttled(detail, wait_seconds=_DISABLED_SECONDS, extra={"error": detail})
        invoke = InvokeV1(
            project_id=function.project_id,
            function_id=UUID(function.id),
            invocation_id=new_id(),
            globals=await self._globals(function, incoming),
        )
        if function.state in LOW_PRIORITY:
            await self._record.enqueue(invoke)
            return WebhookAnswer(200)
        step = await self._step(function, invoke)
        await self._record(function, invoke, step)
        return _answer(step)

    async def _find(self, text: str) -> ExecutableFunction:
        try:
            function_id = UUID(text)
        except ValueError:
            raise _unknown() from None
        async with self._functions.database.read() as session:
            row = await repository.find_anywhere(session, function_id)
        if row is None or row.type != types.SOURCE_WEBHOOK:
            raise _unknown()
        if not row.enabled and row.state not in NOT_RUN:
            raise _unknown()
        return await self._functions.loader.resolved(executable_from_row(row, self._functions.box))

    async def _globals(self, function: ExecutableFunction, incoming: Incoming) -> Globals:
        project = await self._projects(function.project_id)
        visible = project_globals(
            project_id=function.project_id,
            name=project.name if project else "",
            site_url=self._site_url,
        )
        return {
            "project": visible,
            "source": source_globals(
                project_url=visible["url"], function_id=function.id, name=function.name
            ),
            "event": event_globals(
                visible["url"],
                EventFields(
                    uuid=str(new_id()),
                    event=EVENT_NAME,
                    distinct_id="",
                    properties={},
                    timestamp=iso_z(self._functions.clock.now()),
                ),
            ),
            "request": request_globals(incoming),
        }

    async def _step(self, function: ExecutableFunction, invoke: InvokeV1) -> Step:
        journal = new_journal(self._functions.clock.now(), invoke.invocation_id.int & 0x7FFF_FFFF)
        request = StepRequest(function=function, globals=invoke.globals, journal=journal)
        try:
            answer = await self._sandbox.call(
                _RUN_STEP, msgspec.to_builtins(request), deadline=STEP_SECONDS
            )
        except (SandboxTimedOut, SandboxCrashed) as error:
            return Step(
                outcome="failed", journal=journal, error=error.detail, error_class="timeout"
            )
        return msgspec.convert(answer, Step)


class RequestGlobal(TypedDict):
    """The global ``request`` of a webhook; header names are in lower case."""

    method: str
    headers: dict[str, str]
    query: dict[str, str]
    ip: str
    body: Any
    stringBody: str


def request_globals(incoming: Incoming) -> RequestGlobal:
    """The ``request`` global: header names in lower case, without private headers."""
    headers = {name.lower(): value for name, value in incoming.headers.items()}
    text = incoming.body.decode("utf-8", "replace")
    return {
        "method": incoming.method,
        "headers": {
            name: value
            for name, value in headers.items()
            if name not in _DROPPED and not name.startswith("x-forwarded-")
        },
        "query": dict(incoming.query),
        "ip": incoming.ip,
        "body": _parsed(text, headers.get("content-type", "")),
        "stringBody": text,
    }


def _parsed(text: str, content_type: str) -> Any:
    if content_type.partition(";")[0].strip().lower() == _FORM:
        return dict(parse_qsl(text, keep_blank_values=True))
    if not text:
        return {}
    try:
        return parse_json(text)
    except ValueError:
        return text


def _answer(step: Step) -> WebhookAnswer:
    if step.outcome == "call":
        return WebhookAnswer(201, {"status": "queued"})
    if step.outcome == "failed":
        return WebhookAnswer(500, {"status": "error", "error": "The function failed."})
    response = step.result.get("httpResponse") if is_object(step.result) else None
    if not is_object(response):
        return WebhookAnswer(200, {"status": "ok"})
    return _own_answer(response)


def _own_answer(response: JsonObject) -> WebhookAnswer:
    status, body = _status(response.get("status")), response.get("body")
    if isinstance(body, dict | list):
        return WebhookAnswer(status, body)
    requested = str(response.get("contentType") or "").partition(";")[0].strip().lower()
    if response.get("isBase64Encoded") is True and isinstance(body, str):
        return _binary_answer(status, body, requested)
    kind = requested if requested in _SAFE_TYPES | _IMAGE_TYPES else "text/plain"
    text = "" if body is None else body if isinstance(body, str) else dump_json(body).decode()
    return WebhookAnswer(status, encode_utf8(text), kind)


def _binary_answer(status: int, body: str, requested: str) -> WebhookAnswer:
    text = "".join(body.split()).translate(_STANDARD_ALPHABET)
    missing = "" if text.endswith("=") else "=" * (-len(text) % 4)
    try:
        content = base64.b64decode(text + missing, validate=True)
    except (binascii.Error, ValueError):
        error = "The body that the function returned is not base64."
        return WebhookAnswer(500, {"status": "error", "error": error})
    is_known = requested in _SAFE_TYPES | _IMAGE_TYPES
    return WebhookAnswer(status, content, requested if is_known else _BINARY)


def _status(value: Any) -> int:
    try:
        status = int(value)
    except (TypeError, ValueError, OverflowError):
        return 500
    return status if 200 <= status <= 599 else 500


def _unknown() -> NotFound:
    detail = "Webhook not found."
    return NotFound(detail, extra={"error": detail})
