"""One transformation on one event, for test runs. Pure.

The pipeline applies all transformations of a project to whole batches; it has rules of its own
about time and log lines (``hoglet.pipeline.transforming``).

Source: spec/hog-functions.md section 13.6.
"""

from typing import Any, Literal

import msgspec

from hoglet.functions.execution import PROGRAM_MILLISECONDS, LogLine
from hoglet.functions.matching import Conditions, match_function
from hoglet.functions.runnable import RunnableFunction
from hoglet.functions.running import engine
from hoglet.functions.running.filter_globals import filter_globals
from hoglet.functions.running.host import GeoLookup, Host, no_places
from hoglet.functions.running.inputs import InputsFailed, build_inputs
from hoglet.functions.running.journal import Journal
from hoglet.functions.running.redaction import clean_line, secret_texts


class TransformationResult(msgspec.Struct, kw_only=True):
    """What one transformation did to one event.

    Attributes:
        function_id: which.
        outcome: ``succeeded``, ``failed``, ``skipped`` (its filter does not match) or ``dropped``.
        error: why it failed, redacted.
        error_class: ``filter``, ``inputs``, ``timeout`` or ``hog``.
        logs: lines of this run.
        milliseconds: own time of the program.
        event: the event afterwards; None when it was dropped.
    """

    function_id: str
    outcome: Literal["succeeded", "failed", "skipped", "dropped"]
    error: str | None = None
    error_class: str | None = None
    logs: list[LogLine] = []
    milliseconds: float = 0
    event: dict[str, Any] | None = None


def transform(
    function: RunnableFunction,
    event: dict[str, Any],
    project: dict[str, Any],
    *,
    now: str,
    conditions: Conditions,
    places: GeoLookup = no_places,
) -> TransformationResult:
    """Run one transformation.

    Args:
        function: the transformation.
        event: ``{"uuid", "event", "distinct_id", "properties", "timestamp", ...}``; not changed.
        project: ``{"id": 1, "name": "", "url": "https://host"}``.
        now: ISO instant for templates of inputs.
        conditions: compiled filters to reuse; fresh ones for a function that is not stored.
        places: the place of an IP address.
    """
    result = TransformationResult(function_id=function.id, outcome="succeeded", event=event)
    values = {"project": project, "event": event}
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
    _run_program(function, {**values, "inputs": inputs}, result, places)
    return result


def _run_program(
    function: RunnableFunction,
    values: dict[str, Any],
    result: TransformationResult,
    places: GeoLookup,
) -> None:
    host = Host(values, may_call=False, places=places)
    ended = engine.run_program(
        function.hog,
        values,
        host=host,
        journal=Journal(started_at="", seed=0),
        milliseconds=PROGRAM_MILLISECONDS,
        async_steps=0,
    )
    secrets = secret_texts(function.inputs, values["inputs"])
    result.logs = [LogLine(level, clean_line(text, secrets)) for level, text in host.lines]
    result.milliseconds = ended.milliseconds
    if ended.error is not None:
        _failed(result, ended.error_class, clean_line(ended.error, secrets))
    else:
        _take_over(result, ended.value)


def _failed(result: TransformationResult, error_class: str, error: str) -> TransformationResult:
    result.outcome, result.error_class, result.error = "failed", error_class, error
    result.logs.append(LogLine("error", f"Error executing transformation: {error}"))
    return result


def _take_over(result: TransformationResult, returned: Any) -> None:
    """Apply what a program returned."""
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
