"""Transformations: functions that change or drop an event while it is taken in. Pure.

Source: spec/hog-functions.md section 13.6.
"""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from hoglet.functions.execution import LogLine
from hoglet.functions.matching import Conditions
from hoglet.functions.runnable import RunnableFunction
from hoglet.functions.running import engine
from hoglet.functions.running.filter_globals import filter_globals
from hoglet.functions.running.host import GeoLookup, Host, no_places
from hoglet.functions.running.inputs import InputsFailed, build_inputs
from hoglet.functions.running.journal import Journal
from hoglet.functions.running.redaction import clean_line, secret_texts

PROGRAM_MILLISECONDS = 550
SUCCEEDED = "$transformations_succeeded"
FAILED = "$transformations_failed"
SKIPPED = "$transformations_skipped"
_NOTES = (SUCCEEDED, FAILED, SKIPPED)


class TransformationResult(msgspec.Struct, kw_only=True):
    """What one transformation did to one event.

    Attributes:
        function_id: which.
        outcome: ``succeeded``, ``failed``, ``skipped`` (its filter does not match) or ``dropped``.
        error: why it failed, redacted.
        error_class: ``filter``, ``inputs``, ``timeout`` or ``hog``.
        logs: lines of this run.
        milliseconds: own time of the program.
        result: what the program returned.
    """

    function_id: str
    outcome: Literal["succeeded", "failed", "skipped", "dropped"]
    error: str | None = None
    error_class: str | None = None
    logs: list[LogLine] = []
    milliseconds: float = 0
    result: Any = None


class Transformed(msgspec.Struct, kw_only=True):
    """An event after its transformations; ``event`` is None when it was dropped."""

    event: dict[str, Any] | None
    results: list[TransformationResult]


class Transformer:
    """Applies the transformations of a project.

    Args:
        functions: enabled transformations in ascending ``execution_order``.
        places: the place of an IP address.

    Compiled conditions are kept, so make one for many events.
    """

    def __init__(
        self, functions: Sequence[RunnableFunction], *, places: GeoLookup = no_places
    ) -> None:
        self.functions = list(functions)
        self._places = places
        self._conditions = Conditions()

    def apply(self, event: dict[str, Any], project: dict[str, Any], *, now: str) -> Transformed:
        """Transform one event.

        Args:
            event: ``{"uuid", "event", "distinct_id", "properties", "timestamp", ...}``; not changed.
            project: ``{"id": 1, "name": "", "url": "https://host"}``.
            now: ISO instant for templates of inputs.
        """
        notes: dict[str, list[str]] = {name: [] for name in _NOTES}
        current = {**event, "properties": _without_notes(event.get("properties") or {})}
        results: list[TransformationResult] = []
        for function in self.functions:
            result = self._run(function, current, project, now)
            results.append(result)
            if result.outcome == "dropped":
                return Transformed(event=None, results=results)
            label = f"{function.name} ({function.id})"
            notes[f"$transformations_{result.outcome}"].append(label)
        noted = {name: labels for name, labels in notes.items() if labels}
        current["properties"] = {**current["properties"], **noted}
        return Transformed(event=current, results=results)

    def _run(
        self, function: RunnableFunction, current: dict[str, Any], project: dict[str, Any], now: str
    ) -> TransformationResult:
        """Run one transformation; ``current`` is changed to what it returned."""
        result = TransformationResult(function_id=function.id, outcome="succeeded")
        values = {"project": project, "event": current}
        try:
            if not self._conditions.hold(function, None, filter_globals(values)):
                result.outcome = "skipped"
                return result
        except engine.EvaluationFailed as error:
            return _failed(result, "filter", str(error))
        try:
            inputs = build_inputs(function, values, now=now)
        except InputsFailed as error:
            secrets = secret_texts(function.inputs, {})
            return _failed(result, "inputs", clean_line(str(error), secrets))
        self._run_program(function, {**values, "inputs": inputs}, result)
        if result.outcome == "succeeded":
            _take_over(current, result)
        return result

    def _run_program(
        self, function: RunnableFunction, values: dict[str, Any], result: TransformationResult
    ) -> None:
        host = Host(values, may_call=False, places=self._places)
        ended = engine.run_program(
            function.hog,
            values,
            host=host,
            journal=Journal(started_at="", seed=0),
            milliseconds=PROGRAM_MILLISECONDS,
            async_steps=0,
        )
        secrets = secret_texts(function.inputs, values["inputs"]) if host.lines else []
        result.logs = [LogLine(level, clean_line(text, secrets)) for level, text in host.lines]
        result.milliseconds = ended.milliseconds
        result.result = ended.value
        if ended.error is not None:
            secrets = secret_texts(function.inputs, values["inputs"])
            _failed(result, ended.error_class, clean_line(ended.error, secrets))


def _failed(result: TransformationResult, error_class: str, error: str) -> TransformationResult:
    result.outcome, result.error_class, result.error = "failed", error_class, error
    result.logs.append(LogLine("error", f"Error executing transformation: {error}"))
    return result


def _take_over(current: dict[str, Any], result: TransformationResult) -> None:
    """Apply what a program returned."""
    returned = result.result
    if returned is None or returned is False or returned in (0, ""):
        result.outcome = "dropped"
        return
    properties = returned.get("properties") if isinstance(returned, dict) else None
    if not isinstance(properties, dict):
        return
    current["properties"] = _without_notes(properties)
    if "$ip" in properties:
        current["ip"] = properties["$ip"]
    for name in ("event", "distinct_id"):
        if name not in returned:
            continue
        if not isinstance(returned[name], str):
            _failed(result, "hog", f"The returned {name} is not text")
            return
        current[name] = returned[name]


def _without_notes(properties: dict[str, Any]) -> dict[str, Any]:
    if not any(name in properties for name in _NOTES):
        return properties
    return {name: value for name, value in properties.items() if name not in _NOTES}
