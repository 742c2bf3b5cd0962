"""What transformations do to an event: one of them, and all of a project in a row. Pure.

Test runs use one; the pipeline takes whole batches through all of them and adds what concerns
batches only, time and log lines (``hoglet.pipeline.ingest.transform``).

Source: docs/spec/hog-functions.md#136-transformations.
"""

from typing import Any, Literal

import msgspec

from hoglet.functions.executable.matching import Conditions, match_function
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.runtime import engine
from hoglet.functions.runtime.filter_globals import filter_globals
from hoglet.functions.runtime.host import Host
from hoglet.functions.runtime.inputs import InputsFailed, build_inputs
from hoglet.functions.runtime.journal import Journal
from hoglet.functions.runtime.redaction import clean_line, secret_texts
from hoglet.functions.runtime.step import PROGRAM_MILLISECONDS, LogLine
from hoglet.functions.types import TRANSFORMATION_LOG
from hoglet.kit.text import without_surrogates

_NOTE = "$transformations_"
_NOTES = (f"{_NOTE}succeeded", f"{_NOTE}failed", f"{_NOTE}skipped")


class TransformationResult(msgspec.Struct, kw_only=True):
    """What one transformation did to one event.

    Attributes:
        function_id: which.
        outcome: ``succeeded``, ``failed``, ``skipped`` (its filter does not match) or ``dropped``.
        error: why it failed, redacted.
        error_class: ``filter``, ``inputs``, ``timeout`` or ``hog``.
        logs: lines of this run.
        milliseconds: own time of the program.
        event: the event, or log record, afterwards; None when it was dropped.
    """

    function_id: str
    outcome: Literal["succeeded", "failed", "skipped", "dropped"]
    error: str | None = None
    error_class: str | None = None
    logs: list[LogLine] = []
    milliseconds: float = 0
    event: dict[str, Any] | None = None


class Chain:
    """One event on its way through the transformations of a project, in their order.

    Args:
        event: ``{"uuid", "event", "distinct_id", "properties", "timestamp"}``; not changed. The
            notes of other servers' transformations in its properties are dropped.
    """

    def __init__(self, event: dict[str, Any]) -> None:
        self.event = without_notes(event)
        self._notes: dict[str, list[str]] = {}

    def take(self, function: ExecutableFunction, result: TransformationResult) -> bool:
        """Go on with what a transformation made of the event; False when it dropped it."""
        if result.event is None:
            return False
        self.event = without_notes({**self.event, **result.event})
        label = f"{function.name or ''} ({function.id})"
        self._notes.setdefault(f"{_NOTE}{result.outcome}", []).append(label)
        return True

    def finish(self) -> dict[str, Any]:
        """The event as it is stored: with ``$transformations_succeeded`` and so on."""
        return {**self.event, "properties": {**self.event["properties"], **self._notes}}


def drop_notes(properties: dict[str, Any]) -> None:
    """Remove the notes of other servers' transformations where none of ours runs."""
    for name in _NOTES:
        properties.pop(name, None)


def without_notes(event: dict[str, Any]) -> dict[str, Any]:
    """The event without the properties that tell which transformations ran."""
    properties = event["properties"]
    if not any(name in properties for name in _NOTES):
        return event
    kept = {name: value for name, value in properties.items() if name not in _NOTES}
    return {**event, "properties": kept}


def transform(
    function: ExecutableFunction,
    event: dict[str, Any],
    project: dict[str, Any],
    *,
    now: str,
    conditions: Conditions,
    milliseconds: float = PROGRAM_MILLISECONDS,
) -> TransformationResult:
    """Run one transformation.

    Args:
        function: the transformation.
        event: ``{"uuid", "event", "distinct_id", "properties", "timestamp", ...}``, or the log
            record of a ``transformation_log``; not changed.
        project: ``{"id": 1, "name": "", "url": "https://host"}``.
        now: ISO instant for templates of inputs.
        conditions: compiled filters to reuse; fresh ones for a function that is not stored.
        milliseconds: the program's time limit.
    """
    result = TransformationResult(function_id=function.id, outcome="succeeded", event=event)
    is_log = function.type == TRANSFORMATION_LOG
    values = {"project": project, "record" if is_log else "event": event}
    match = match_function(function, filter_globals(values), conditions)
    if match.outcome == "failed":
        return _failed(result, "filter", match.error or "")
    if match.outcome == "filtered":
        result.outcome = "skipped"
        return result
    try:
        inputs = build_inputs(function, values, now=now)
    except InputsFailed as error:
        return _failed(result, "inputs", clean_line(str(error), secret_texts(function.inputs, {})))
    _run_program(function, {**values, "inputs": inputs}, result, milliseconds)
    return result


def _run_program(
    function: ExecutableFunction,
    values: dict[str, Any],
    result: TransformationResult,
    milliseconds: float,
) -> None:
    host = Host(values, may_call=False, facilities=function.facilities)
    ended = engine.run_program(
        function.hog,
        values,
        host=host,
        journal=Journal(started_at="", seed=0),
        milliseconds=milliseconds,
        async_steps=0,
    )
    secrets = secret_texts(function.inputs, values["inputs"])
    result.logs = [LogLine(level, clean_line(text, secrets)) for level, text in host.lines]
    result.milliseconds = ended.milliseconds
    if ended.error is not None:
        _failed(result, ended.error_class, clean_line(ended.error, secrets))
    else:
        _take_over(result, ended.value, values)


def _failed(result: TransformationResult, error_class: str, error: str) -> TransformationResult:
    result.outcome, result.error_class, result.error = "failed", error_class, error
    uuid = (result.event or {}).get("uuid")
    result.logs.append(LogLine("error", f"Error executing function on event {uuid}: {error}"))
    return result


def _take_over(result: TransformationResult, returned: Any, values: dict[str, Any]) -> None:
    """Apply what a program returned."""
    returned = without_surrogates(returned)
    if "record" in values and isinstance(returned, dict) and returned:
        result.event = returned
        return
    if not returned:
        result.outcome, result.event = "dropped", None
        return
    properties = returned.get("properties") if isinstance(returned, dict) else None
    if result.event is None or not isinstance(properties, dict):
        return
    result.event = {**result.event, "properties": properties}
    if "$ip" in properties:
        result.event["ip"] = properties["$ip"]
    for name in ("event", "distinct_id"):
        if name not in returned:
            continue
        if not isinstance(returned[name], str):
            _failed(result, "hog", f"The returned {name} is not text")
            return
        result.event[name] = returned[name]
