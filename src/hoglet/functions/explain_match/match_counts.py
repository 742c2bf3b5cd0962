"""Counts how many of the newest stored events match a function.

Time and memory are bounded: events are read and evaluated in pages; a count that takes too long
ends early and says so.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import msgspec

from hoglet.access.principals import ProjectScope
from hoglet.functions.executable.messages import MatchOutcomes
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.explain_match.run_conditions import as_seen
from hoglet.functions.explain_match.schemas import (
    MAX_COUNTED_EVENTS,
    MatchCount,
    MatchedEvent,
    read_count_limit,
)
from hoglet.functions.explain_match.subject import check_scope, read_subject
from hoglet.functions.json_types import EventGlobal, Globals
from hoglet.functions.service import FunctionService
from hoglet.functions.test_runs.configuration import find_function
from hoglet.kit.errors import CostExceeded, NotFound
from hoglet.kit.json import JsonObject
from hoglet.sandbox import Sandbox, SandboxCrashed, SandboxTimedOut

# The path of an operation, so that the server does not import what only workers run.
_MATCH_EVENTS = "hoglet.functions.worker_operations:match_events"

type ReadEvents = Callable[[int, int, float], AsyncIterator[list[Globals]]]
"""Project id, number of events and seconds to pages of ``{"event", "person"?, "groups"}``."""

_SECONDS = 10.0
_FILTER_SECONDS = 6.0  # one filter may take 5 s
_AT_ONCE = 2
_EXAMPLES = 20


class MatchCounts:
    """Counts matches.

    Args:
        functions: the functions.
        sandbox: runs ``worker_operations.match_events``.
        read_events: reads the newest stored events.
    """

    def __init__(
        self, functions: FunctionService, sandbox: Sandbox, read_events: ReadEvents
    ) -> None:
        self._functions = functions
        self._sandbox = sandbox
        self._read_events = read_events
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def count(self, scope: ProjectScope, function_id: str, body: JsonObject) -> MatchCount:
        """Evaluate the filter with the newest stored events; nothing is stored or counted.

        Args:
            scope: the caller and project.
            function_id: the id of a stored function, or ``new`` with a configuration.
            body: ``{"limit": 10000, "configuration": {...}}``.

        Returns:
            A ``MatchCount``.

        Raises:
            NotFound: no such function.
            Invalid: an invalid configuration or limit.
            Forbidden: the key lacks the scope for a configuration or for stored events.
        """
        limit = read_count_limit(body, MAX_COUNTED_EVENTS)
        row = await find_function(self._functions, scope, function_id)
        if row is None and function_id != "new":
            raise NotFound
        check_scope(scope, "query:read")
        subject = await read_subject(self._functions, scope, row, body)
        async with self._slots:
            count = _Count(subject.function, limit)
            count.error = subject.filters.get("bytecode_error")
            await self._evaluate(scope.project.id, count)
        return count.response()

    async def _evaluate(self, project_id: int, count: "_Count") -> None:
        end = time.monotonic() + _SECONDS
        try:
            async for page in self._read_events(project_id, count.limit, _SECONDS):
                seconds = end - time.monotonic()
                outcomes, error = await self._outcomes(count.function, page, seconds)
                count.add(page, outcomes)
                count.error = count.error or error
                if len(outcomes) < len(page) or time.monotonic() >= end:
                    count.complete = False
                    break
        except CostExceeded:
            count.complete = False
        except (SandboxTimedOut, SandboxCrashed) as error:
            count.complete = False
            count.error = error.detail

    async def _outcomes(
        self, function: ExecutableFunction, page: list[Globals], seconds: float
    ) -> tuple[list[str], str | None]:
        seen = [as_seen(function, run, is_stored=True) for run in page]
        payload: JsonObject = {
            "function": msgspec.to_builtins(function),
            "globals": [run for run, _, _ in seen],
            "seconds": seconds,
        }
        answer: MatchOutcomes = await self._sandbox.call(
            _MATCH_EVENTS, payload, deadline=max(seconds, 0) + _FILTER_SECONDS
        )
        outcomes = [
            "filtered" if source is not None and not source.matched else outcome
            for outcome, (_, source, _) in zip(answer["outcomes"], seen, strict=False)
        ]
        return outcomes, answer["error"]


class _Count:
    """The count so far; pages are added newest first."""

    def __init__(self, function: ExecutableFunction, limit: int) -> None:
        self.function = function
        self.limit = limit
        self.complete = True
        self.error: str | None = None
        self._outcomes = {"matched": 0, "filtered": 0, "failed": 0}
        self._examples: list[MatchedEvent] = []
        self._newest: str | None = None
        self._oldest: str | None = None

    def add(self, page: list[Globals], outcomes: list[str]) -> None:
        for run, outcome in zip(page, outcomes, strict=False):
            self._outcomes[outcome] += 1
            self._oldest = run["event"]["timestamp"]
            self._newest = self._newest or self._oldest
            if outcome == "matched" and len(self._examples) < _EXAMPLES:
                event: EventGlobal = run["event"]
                self._examples.append(
                    {
                        "uuid": event["uuid"],
                        "event": event["event"],
                        "distinct_id": event["distinct_id"],
                        "timestamp": event["timestamp"],
                    }
                )

    def response(self) -> MatchCount:
        return {
            "matched": self._outcomes["matched"],
            "failed": self._outcomes["failed"],
            "examined": sum(self._outcomes.values()),
            "limit": self.limit,
            "complete": self.complete,
            "newest": self._newest,
            "oldest": self._oldest,
            "error": self.error,
            "events": self._examples,
        }
