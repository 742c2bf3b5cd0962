"""Returns the responses that a case defines, and records the requests.

Only the network is replaced: requests are built, retried and evaluated as in production.
"""

import contextlib
import json
from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from hoglet.functions.runtime.email import shape_sent
from hoglet.functions.runtime.host_calls import HostCallResult, HostCalls
from hoglet.functions.runtime.messages import StepHostCall
from hoglet.kit.json import JsonObject
from hoglet.outbound.port import NetworkFailure, OutboundRequest, OutboundResponse
from hoglet.project_tests.case_types import ScriptedAnswer, SentRequest

_ANSWER: ScriptedAnswer = {"status": 200, "body": {}}


class _Answers:
    """Replaces the HTTP client: returns the case's responses in order, then 200 with ``{}``.

    A response with ``times`` is repeated that often; each attempt of a request consumes one.
    """

    def __init__(self, answers: list[ScriptedAnswer]) -> None:
        self._waiting = [each for each in answers for _ in range(each.get("times", 1))]

    async def fetch(
        self, _project_id: int, _request: OutboundRequest
    ) -> OutboundResponse | NetworkFailure:
        answer = self._waiting.pop(0) if self._waiting else _ANSWER
        if error := answer.get("error"):
            return NetworkFailure("ConnectionError", str(error))
        body = answer.get("body", {})
        text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
        headers = {str(k).lower(): str(v) for k, v in (answer.get("headers") or {}).items()}
        return OutboundResponse(answer.get("status", 200), headers, text.encode())


class ScriptedCalls(HostCalls):
    """Host calls with the responses of a case.

    Attributes:
        requests: the requests of calls, without retries.
        emails: the sent messages.
    """

    def __init__(self, answers: list[ScriptedAnswer]) -> None:
        super().__init__(_Answers(answers), None)  # pyright: ignore[reportArgumentType] (fetch is all it needs)
        self.requests: list[SentRequest] = []
        self.emails: list[JsonObject] = []

    async def make(
        self, project_id: int, call: StepHostCall, *, invocation_id: UUID, number: int, attempt: int
    ) -> HostCallResult:
        """Record the call and return its response."""
        if call.name != "fetch":
            self.emails.append(dict(call.request))
            return HostCallResult(answer=shape_sent())
        if attempt == 1:
            self.requests.append(_readable(call.request))
        return await super().make(
            project_id, call, invocation_id=invocation_id, number=number, attempt=attempt
        )


def _readable(request: Mapping[str, Any]) -> SentRequest:
    """A request in the form that cases use, with a JSON body parsed."""
    body = request.get("body")
    with contextlib.suppress(ValueError):
        body = json.loads(body) if isinstance(body, str) else body
    readable = {key: request.get(key) for key in ("method", "url", "headers")}
    return cast("SentRequest", {**readable, "body": body})
