"""Performs one attempt of a run's host call and decides: continue, or retry later.

Source: docs/spec/hog-functions.md#133-functions and
docs/spec/hog-functions.md#134-retries-hoglet-goes-further.
"""

import random
import time
from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec

from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.jobs import InvokeV1
from hoglet.functions.json_types import HostRequest
from hoglet.functions.runtime.email import EmailResult
from hoglet.functions.runtime.fetch import (
    FetchResponse,
    is_tolerated,
    retry_after_seconds,
    retry_delay_seconds,
)
from hoglet.functions.runtime.host_calls import HostCallResult, HostCalls
from hoglet.functions.runtime.messages import StepHostCall
from hoglet.kit import tracing
from hoglet.kit.clock import Clock
from hoglet.outbound.targets import InvalidUrl, parse_url


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of an attempt.

    Attributes:
        answer: the result for the program, ``{"status": 200, "body": ...}``.
        milliseconds: duration of the attempt.
        has_answer: whether the host responded; if not, ``answer`` says why.
        problem: why the attempt failed; None if it succeeded.
        retry_at: when to retry; None if the program continues with ``answer``.
        note: a line for the log.
        pause_until: end of the pause that the host requested, if any.
    """

    answer: FetchResponse | EmailResult
    milliseconds: float
    has_answer: bool = True
    problem: str | None = None
    retry_at: datetime | None = None
    note: str | None = None
    pause_until: datetime | None = None


class HostCallAttempts:
    """Performs attempts.

    Args:
        calls: performs host calls.
        clock: decides when a retry is due.
        chance: returns 0..1, for jitter.
    """

    def __init__(
        self, calls: HostCalls, clock: Clock, chance: Callable[[], float] = random.random
    ) -> None:
        self._calls = calls
        self._clock = clock
        self._chance = chance

    async def attempt(
        self, function: ExecutableFunction, invoke: InvokeV1, call: StepHostCall
    ) -> Attempt:
        """Perform attempt number ``invoke.attempt`` of a call and decide about a retry."""
        started = time.monotonic()
        with tracing.span(call.name, kind="client") as span:
            if span.is_recorded:
                span.set("server.address", host_of(call.request))
            created = await self._calls.make(
                function.project_id,
                call,
                invocation_id=invoke.invocation_id,
                number=len(invoke.journal.calls) if invoke.journal else 0,
                attempt=invoke.attempt,
            )
            if call.name == "fetch" and created.has_answer:
                span.set("http.response.status_code", created.answer["status"])
            if created.problem is not None:
                span.fail("delivery_failed")
        retry_at = pause_until = None
        problem = created.problem
        if problem is not None and _is_tolerated(function, invoke, call, created):
            problem = None
        if created.may_help and problem is not None:
            wait = retry_after_seconds(created.retry_after, self._clock.now())
            honoured = wait if function.retry.respect_retry_after else None
            retry_at = self.retry_at(function, invoke, honoured)
            pause_until = self._pause_until(function, honoured)
        return Attempt(
            answer=created.answer,
            milliseconds=(time.monotonic() - started) * 1000,
            has_answer=created.has_answer,
            problem=problem,
            retry_at=retry_at,
            note=created.note,
            pause_until=pause_until,
        )

    def _pause_until(self, function: ExecutableFunction, wait: float | None) -> datetime | None:
        """The end of the host's pause; a wait beyond the retry limit does not pause other runs."""
        if not wait or wait > function.retry.max_elapsed_seconds:
            return None
        return self._clock.now() + timedelta(seconds=wait)

    def retry_at(
        self, function: ExecutableFunction, invoke: InvokeV1, at_least: float | None = None
    ) -> datetime | None:
        """When the next attempt after ``invoke.attempt`` is due; None after the last attempt."""
        policy = function.retry
        if invoke.attempt >= policy.max_attempts:
            return None
        delay = retry_delay_seconds(policy, invoke.attempt, self._chance)
        due = self._clock.now() + timedelta(seconds=max(delay, at_least or 0.0))
        began = self._clock.now()
        if invoke.failing_since is not None:
            began = datetime.fromisoformat(invoke.failing_since)
        last = began + timedelta(seconds=policy.max_elapsed_seconds)
        return due if due <= last else None


def _is_tolerated(
    function: ExecutableFunction, invoke: InvokeV1, call: StepHostCall, created: HostCallResult
) -> bool:
    """Whether the function's settings accept this response: no error, no retry."""
    if call.name != "fetch" or not created.has_answer:
        return False
    return is_tolerated(created.answer["status"], function.tolerated_codes(invoke.mapping))


def host_of(request: HostRequest) -> str:
    """The host of a request, with its port if the URL has one.

    Example:
        >>> host_of({"url": "https://me:secret@API.example.com:8443/x"})
        'api.example.com:8443'
    """
    try:
        return parse_url(str(request.get("url", ""))).authority
    except InvalidUrl:
        return ""  # such a URL is rejected when it is sent
