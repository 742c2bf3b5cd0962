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

from hoglet.functions.execution import HostCall
from hoglet.functions.host_calls import HostCalls, Made
from hoglet.functions.jobs import InvokeV1
from hoglet.functions.runnable import RunnableFunction
from hoglet.functions.running.fetching import retry_after_seconds, retry_delay_seconds
from hoglet.kit.clock import Clock


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one attempt.

    Attributes:
        answer: what the program is given, ``{"status": 200, "body": ...}``.
        milliseconds: how long it took.
        problem: why it failed, None when it did not.
        retry_at: when to try again; None when the program goes on with ``answer``.
        note: a line for the log.
    """

    answer: dict[str, Any]
    milliseconds: float
    problem: str | None = None
    retry_at: datetime | None = None
    note: str | None = None


class Deliveries:
    """Makes the attempts; remembers which hosts asked a function to wait.

    Args:
        calls: the way out.
        clock: tells when a retry is due.
        chance: gives 0..1, for the jitter.
    """

    def __init__(
        self, calls: HostCalls, clock: Clock, chance: Callable[[], float] = random.random
    ) -> None:
        self._calls = calls
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
        self, function: RunnableFunction, invoke: InvokeV1, call: HostCall
    ) -> Attempt:
        """Make attempt ``invoke.attempt`` of a call and decide what follows."""
        started = time.monotonic()
        made = await self._calls.make(
            function.project_id,
            call,
            invocation_id=invoke.invocation_id,
            number=len(invoke.journal.calls) if invoke.journal else 0,
            attempt=invoke.attempt,
        )
        return Attempt(
            answer=made.answer,
            milliseconds=(time.monotonic() - started) * 1000,
            problem=made.problem,
            retry_at=self._next(function, invoke, call, made) if made.may_help else None,
            note=made.note,
        )

    def _next(
        self, function: RunnableFunction, invoke: InvokeV1, call: HostCall, made: Made
    ) -> datetime | None:
        """When to try again; what the receiver asked for holds for the function's other runs."""
        wait = retry_after_seconds(made.retry_after, self._clock.now())
        honoured = wait if function.retry["respect_retry_after"] else None
        if honoured:
            until = self._clock.now() + timedelta(seconds=honoured)
            self._paused[function.id, _host(call.request)] = until
        return self._retry_at(function, invoke, honoured)

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
