"""The transformations of a project applied to events, in order, inside the worker. Pure.

A transformation that runs into its time limit again and again is given up for the rest of the
group and counts as failed there, so that an endless loop delays a group by seconds, not hours.

Source: spec/hog-functions.md section 13.6.
"""

from datetime import datetime
from typing import Any

from hoglet.events.incoming import Event
from hoglet.functions.execution import PROGRAM_MILLISECONDS
from hoglet.functions.matching import match_function
from hoglet.functions.runnable import RunnableFunction
from hoglet.functions.running import engine
from hoglet.functions.running.filter_globals import filter_globals
from hoglet.functions.running.host import Host
from hoglet.functions.running.inputs import InputsFailed, build_inputs
from hoglet.functions.running.journal import Journal
from hoglet.functions.running.redaction import clean_line, secret_texts
from hoglet.pipeline.messages import Line, Tally

MAX_TIMEOUTS = 3  # of one transformation in one group: 1.65 s
MAX_LINES = 1000  # of one group; prints of 100,000 events would be a flood
_MARKS = ("$transformations_succeeded", "$transformations_failed", "$transformations_skipped")


class Transformations:
    """The enabled transformations of a project, in execution order."""

    def __init__(self, functions: list[RunnableFunction], *, site_url: str) -> None:
        self.functions = functions
        self.site_url = site_url

    def __bool__(self) -> bool:
        return bool(self.functions)

    def begin(self) -> "TransformationRun":
        """Start a group."""
        return TransformationRun(self)


class TransformationRun:
    """The transformations at work on one group; gathers counts, lines and times."""

    def __init__(self, transformations: Transformations) -> None:
        self._functions = transformations.functions
        self._site_url = transformations.site_url
        self._timeouts: dict[str, int] = {}
        self._tally = Tally()

    def apply(self, event: Event) -> Event | None:
        """Run all on one event; None when one of them drops it. The event is changed in place."""
        for mark in _MARKS:
            event.properties.pop(mark, None)
        marks: dict[str, list[str]] = {}
        for function in self._functions:
            outcome = self._apply_one(function, event)
            if outcome == "dropped":
                return None
            marks.setdefault(outcome, []).append(f"{function.name or ''} ({function.id})")
        for outcome, names in marks.items():
            event.properties[f"$transformations_{outcome}"] = names
        return event

    def report(self, tally: Tally) -> None:
        """Add what was gathered."""
        for function_id, counters in self._tally.counts.items():
            tally.counts.setdefault(function_id, {}).update(counters)
        tally.lines.extend(self._tally.lines)
        tally.spent.update(self._tally.spent)

    def _apply_one(self, function: RunnableFunction, event: Event) -> str:
        if self._timeouts.get(function.id, 0) >= MAX_TIMEOUTS:
            return self._failed(function, event, "given up after running too long several times")
        run_globals = self._globals(event)
        match = match_function(function, filter_globals(run_globals))
        if match.outcome == "failed":
            self._tally.count(function.id, "other", "filtering_failed")
            return self._failed(function, event, match.error or "the filter failed")
        if match.outcome == "filtered":
            self._tally.count(function.id, "other", "filtered")
            return "skipped"
        try:
            inputs = build_inputs(function, run_globals, mapping=None, now=_now_of(event))
        except InputsFailed as error:
            self._tally.count(function.id, "failure", "inputs_failed")
            return self._failed(function, event, str(error), counted=True)
        return self._run(function, event, run_globals, inputs)

    def _run(
        self,
        function: RunnableFunction,
        event: Event,
        run_globals: dict[str, Any],
        inputs: dict[str, Any],
    ) -> str:
        host = Host(run_globals, may_call=False)
        ended = engine.run_program(
            function.hog,
            {**run_globals, "inputs": inputs},
            host=host,
            journal=Journal(started_at=_now_of(event), seed=event.uuid.int & 0x7FFF_FFFF),
            milliseconds=PROGRAM_MILLISECONDS,
            async_steps=0,
        )
        if ended.milliseconds > 50:  # below, a run costs the watcher nothing
            self._tally.spent.setdefault(function.id, []).append(ended.milliseconds)
        self._lines(function, inputs, host.lines)
        if ended.error is not None:
            if ended.error_class == "timeout":
                self._timeouts[function.id] = self._timeouts.get(function.id, 0) + 1
            return self._failed(function, event, ended.error)
        if not ended.value:
            self._tally.count(function.id, "other", "dropped")
            self._tally.count(function.id, "success", "succeeded")
            return "dropped"
        reason = _adopt(event, ended.value)
        if reason is not None:
            return self._failed(function, event, reason)
        self._tally.count(function.id, "success", "succeeded")
        return "succeeded"

    def _failed(
        self, function: RunnableFunction, event: Event, reason: str, *, counted: bool = False
    ) -> str:
        if not counted:
            self._tally.count(function.id, "failure", "failed")
        text = f"Error transforming event {event.uuid}: {reason}"
        self._lines(function, {}, [("error", text)])
        return "failed"

    def _lines(
        self, function: RunnableFunction, inputs: dict[str, Any], lines: list[tuple[str, str]]
    ) -> None:
        if not lines or len(self._tally.lines) >= MAX_LINES:
            return
        secrets = secret_texts(function.inputs, inputs)
        self._tally.lines.extend(
            Line(function.id, "", level, clean_line(text, secrets)) for level, text in lines
        )

    def _globals(self, event: Event) -> dict[str, Any]:
        project_id = self._functions[0].project_id
        timestamp = iso(event.timestamp)
        return {
            "project": {"id": project_id, "name": "", "url": self._site_url},
            "event": {
                "uuid": str(event.uuid),
                "event": event.event,
                "distinct_id": event.distinct_id,
                "properties": event.properties,
                "elements_chain": event.properties.get("$elements_chain") or "",
                "timestamp": timestamp,
                "captured_at": timestamp,
                "url": "",
            },
        }


def iso(at: datetime) -> str:
    """An instant as runs see it: ``2026-01-01T10:00:00.000000Z``."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _now_of(event: Event) -> str:
    return event.timestamp.isoformat()


def _adopt(event: Event, value: Any) -> str | None:
    """Take over what a transformation returned; gives why it counts as failed, if it does."""
    if not isinstance(value, dict) or not isinstance(value.get("properties"), dict):
        return "it returned no event with properties"
    event.properties = value["properties"]
    for name in ("event", "distinct_id"):
        if name in value and value[name] is not None:
            if not isinstance(value[name], str):
                return f"it returned an event whose {name} is not text"
            setattr(event, name, value[name][:200].replace("\0", "�") or getattr(event, name))
    return None
