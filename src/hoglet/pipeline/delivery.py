"""One attempt of a host call of a run, and what follows from its result: go on, or try again later.

Source: spec/hog-functions.md sections 13.3 and 13.4.
"""

import random
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import msgspec

from hoglet.functions.integrations.credentials import Credentials
from hoglet.functions.jobs import InvokeV1
from hoglet.functions.runnable import RunnableFunction
from hoglet.functions.running.fetching import (
    FetchRequest,
    is_retried,
    retry_after_seconds,
    retry_delay_seconds,
    shape_failure,
    shape_response,
    with_delivery_headers,
)
from hoglet.kit.clock import Clock
from hoglet.outbound.port import NetworkFailure, OutboundRequest, OutboundResponse, Refused


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one attempt.

    Attributes:
        answer: what the program is given, ``{"status": 200, "body": ...}``.
        milliseconds: how long it took.
        problem: why it failed, None when it did not.
        retry_at: when to try again; None when the program goes on with ``answer``.
    """

    answer: dict[str, Any]
    milliseconds: float
    problem: str | None = None
    retry_at: datetime | None = None


class Deliveries:
    """Makes the attempts; remembers which hosts asked a function to wait.

    Args:
        credentials: the way out, behind the guard, with the tokens of integrations.
        clock: tells when a retry is due.
        chance: gives 0..1, for the jitter.
    """

    def __init__(
        self, credentials: Credentials, clock: Clock, chance: Callable[[], float] = random.random
    ) -> None:
        self._credentials = credentials
        self._clock = clock
        self._chance = chance
        self._paused: dict[tuple[str, str], datetime] = {}

    def paused_until(self, function: RunnableFunction, request: dict[str, Any]) -> datetime | None:
        """When the host of a request may be asked again, if it told this function to wait."""
        key = (function.id, _host(request))
        until = self._paused.get(key)
        if until is not None and until <= self._clock.now():
            del self._paused[key]
            until = None
        return until

    async def attempt(
        self, function: RunnableFunction, invoke: InvokeV1, request: dict[str, Any]
    ) -> Attempt:
        """Make attempt ``invoke.attempt`` of a request and decide what follows."""
        wanted = msgspec.convert(request, FetchRequest)
        headed = with_delivery_headers(
            wanted, invocation_id=str(invoke.invocation_id), attempt=invoke.attempt
        )
        started = time.monotonic()
        outgoing = OutboundRequest(
            url=headed.url,
            method=headed.method,
            headers=dict(headed.headers),
            body=None if headed.body is None else headed.body.encode("utf-8", "replace"),
        )
        result = await self._credentials.fetch(function.project_id, outgoing)
        milliseconds = (time.monotonic() - started) * 1000
        match result:
            case OutboundResponse():
                return self._of_response(function, invoke, request, result, milliseconds)
            case Refused():
                answer = shape_failure(result.name, result.message)
                return Attempt(answer=answer, milliseconds=milliseconds, problem=result.text)
            case NetworkFailure():
                answer = shape_failure(result.name, result.message)
                retry_at = self._retry_at(function, invoke, None)
                return Attempt(
                    answer=answer,
                    milliseconds=milliseconds,
                    problem=result.text,
                    retry_at=retry_at,
                )

    def _of_response(
        self,
        function: RunnableFunction,
        invoke: InvokeV1,
        request: dict[str, Any],
        response: OutboundResponse,
        milliseconds: float,
    ) -> Attempt:
        answer = shape_response(response.status, response.body)
        if response.status < 400:
            return Attempt(answer=answer, milliseconds=milliseconds)
        retry_at = None
        if is_retried(response.status):
            asked = response.headers.get("retry-after")
            wait = retry_after_seconds(asked, self._clock.now())
            honoured = wait if function.retry["respect_retry_after"] else None
            retry_at = self._retry_at(function, invoke, honoured)
            if honoured:
                until = self._clock.now() + timedelta(seconds=honoured)
                self._paused[function.id, _host(request)] = until
        return Attempt(
            answer=answer,
            milliseconds=milliseconds,
            problem=f"status {response.status}",
            retry_at=retry_at,
        )

    def _retry_at(
        self, function: RunnableFunction, invoke: InvokeV1, at_least: float | None
    ) -> datetime | None:
        policy = function.retry
        if invoke.attempt >= policy["max_attempts"]:
            return None
        delay = retry_delay_seconds(policy, invoke.attempt, self._chance)
        due = self._clock.now() + timedelta(seconds=max(delay, at_least or 0.0))
        began = self._clock.now()
        if invoke.first_failed_at is not None and not invoke.is_redrive:
            began = datetime.fromisoformat(invoke.first_failed_at)
        last = began + timedelta(seconds=policy["max_elapsed_seconds"])
        return due if due <= last else None


def _host(request: dict[str, Any]) -> str:
    return urlsplit(str(request.get("url", ""))).netloc.lower()
