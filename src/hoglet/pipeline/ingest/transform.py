"""Applies a project's transformations to a group of events, inside the worker. Pure.

A transformation that keeps exceeding its time limit is skipped for the rest of the group and counts
as failed, so that an endless loop delays a group by seconds, not hours.

Source: docs/spec/hog-functions.md#136-transformations.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import batched
from uuid import UUID

import msgspec

from hoglet.events.elements import chain_of
from hoglet.events.parse import MAX_DISTINCT_ID_LENGTH, MAX_NAME_LENGTH, Event
from hoglet.functions.executable.matching import Conditions
from hoglet.functions.executable.messages import TransformationResult
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.executable.transform import Chain, Transformation, drop_notes
from hoglet.functions.json_types import EventGlobal, ProjectGlobal
from hoglet.functions.runtime.step import PROGRAM_MILLISECONDS
from hoglet.hog.runtime.settled_data import is_settled
from hoglet.pipeline.ingest.ipc import BatchCounters, Line, ProjectFacts

MAX_TIMEOUTS = 3  # of one transformation in one group: 1.65 s
# Time that all transformations of a group may lose to timeouts while other projects' groups wait.
# After it each has 100 ms, a hundred times what most take, and is skipped after its first timeout.
OVERRUN_MS = 3000
HASTY_MS = 100
MAX_LINES = 1000  # log lines of one group; a print for each of 100,000 events would flood the log
# Events that are settled together, or not: half the time of testing each, little to lose by one.
_TOGETHER = 32
_FREE_MS = 50  # runs faster than this are not charged to the watcher budget
_COUNTERS = {
    "succeeded": "success/succeeded",
    "dropped": "other/dropped",
    "skipped": "other/filtered",
    "failed": "failure/failed",
}
_COUNTERS_OF_FAILURES = {
    "filter": "other/filtering_failed",
    "inputs": "failure/inputs_failed",
}


class GroupTransformer:
    """Runs transformations on the events of a group; counts and logs go to ``tally``."""

    def __init__(
        self,
        functions: Sequence[ExecutableFunction],
        project: ProjectFacts,
        tally: BatchCounters,
        conditions: Conditions,
    ) -> None:
        facts: ProjectGlobal = {"id": project.id, "name": "", "url": project.site_url}
        self._transformations = [
            Transformation(function, facts, conditions) for function in functions
        ]
        self._timeouts: Counter[str] = Counter()
        self._logged: set[str] = set()
        self._overrun_ms = 0.0
        self._tally = tally

    def apply(self, events: Sequence[Event]) -> list[bool]:
        """Run all transformations on events; False for each that one of them drops."""
        if not self._transformations:
            for event in events:
                drop_notes(event.properties)
            return [True] * len(events)
        chains = list(_chains(events))
        for transformation in self._transformations:
            passing = [chain for chain in chains if not chain.is_dropped]
            results = [self._run(transformation, chain) for chain in passing]
            for chain, result in zip(passing, results, strict=True):
                chain.take(transformation, result)
        for event, chain in zip(events, chains, strict=True):
            if not chain.is_dropped:
                _change(event, chain.finish())
        return [not chain.is_dropped for chain in chains]

    def _run(self, transformation: Transformation, chain: Chain) -> TransformationResult:
        function_id, event = transformation.function.id, chain.event
        if self._timeouts and self._is_given_up(function_id):
            self._log_once(function_id)
            self._tally.count(function_id, "failure", "failed")
            return TransformationResult(
                function_id=function_id,
                outcome="failed",
                event=event,
                is_settled=chain.is_settled,
            )
        milliseconds = HASTY_MS if self._is_late() else PROGRAM_MILLISECONDS
        result = transformation.run(
            event,
            now=event["timestamp"],
            milliseconds=milliseconds,
            is_settled=chain.is_settled,
        )
        self._count(result, event["uuid"])
        return result

    def _count(self, result: TransformationResult, instance: str) -> None:
        function_id = result.function_id
        counter = _COUNTERS[result.outcome]
        if result.outcome == "failed":
            counter = _COUNTERS_OF_FAILURES.get(result.error_class or "", counter)
        self._tally.add(function_id, counter)
        if result.logs and len(self._tally.lines) < MAX_LINES:
            self._tally.lines.extend(
                Line(function_id, instance, line.level, line.message) for line in result.logs
            )
        if result.milliseconds > _FREE_MS:
            self._tally.spent.setdefault(function_id, []).append(result.milliseconds)
        if result.error_class == "timeout":
            self._overrun_ms += result.milliseconds
            self._timeouts[function_id] += 1

    def _is_late(self) -> bool:
        return self._overrun_ms >= OVERRUN_MS

    def _is_given_up(self, function_id: str) -> bool:
        return self._timeouts[function_id] >= (1 if self._is_late() else MAX_TIMEOUTS)

    def _log_once(self, function_id: str) -> None:
        if function_id not in self._logged:
            self._logged.add(function_id)
            text = "Not run for the rest of a batch: it exceeded its time limit too often"
            self._tally.lines.append(Line(function_id, "", "error", text))


def uuid_text(uuid: UUID) -> str:
    """Like ``str(uuid)``, but ten times faster."""
    return msgspec.to_builtins(uuid)


def iso(at: datetime) -> str:
    """Format a UTC timestamp as runs see it: ``2026-01-01T10:00:00.000000Z``."""
    text: str = msgspec.to_builtins(at)  # eight times as fast as isoformat; omits zero microseconds
    return text if at.microsecond else text[:-1] + ".000000Z"


def _chains(events: Sequence[Event]) -> Iterator[Chain]:
    for together in batched(events, _TOGETHER):
        values = [_plain(event) for event in together]
        are_settled = is_settled(values)
        for value in values:
            yield Chain(value, is_settled=are_settled)


def _plain(event: Event) -> EventGlobal:
    return {
        "uuid": uuid_text(event.uuid),
        "event": event.event,
        "distinct_id": event.distinct_id,
        "properties": event.properties,
        "elements_chain": chain_of(event.properties),
        "timestamp": iso(event.timestamp),
    }


def _change(event: Event, to: EventGlobal) -> None:
    event.properties = to["properties"]
    name, distinct_id = to["event"], to["distinct_id"]
    if name is not event.event:
        event.event = _cut(name, MAX_NAME_LENGTH) or event.event
    if distinct_id is not event.distinct_id:
        event.distinct_id = _cut(distinct_id, MAX_DISTINCT_ID_LENGTH) or event.distinct_id


def _cut(text: str, limit: int) -> str:
    return text[:limit].replace("\0", "�") if len(text) > limit or "\0" in text else text
