"""Sandbox operations of functions.

Registered by name in the composition root. Each takes and returns plain msgspec values.
"""

from time import perf_counter

import msgspec

from hoglet.functions.compile.function import compile_function_parts
from hoglet.functions.compile.messages import CompileAnswer, CompiledFunction, CompileInput
from hoglet.functions.executable.matching import Conditions, match_function
from hoglet.functions.executable.messages import MatchAnswer, MatchOutcomes, Outcome
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.executable.transform import Transformation
from hoglet.functions.explain_match.conditions import explain
from hoglet.functions.explain_match.messages import ExplanationRequest
from hoglet.functions.runtime.filter_globals import filter_globals, lazy_filter_globals
from hoglet.functions.runtime.messages import Pinned, RunLogLine, StepRequest
from hoglet.functions.runtime.step import run_step as run
from hoglet.functions.test_runs.skip_reason import filter_skip_reason
from hoglet.kit.errors import Invalid
from hoglet.kit.json import JsonObject


def compile_function(payload: JsonObject) -> CompileAnswer:
    """Compile a function.

    Args:
        payload: a :class:`~hoglet.functions.compile.function.CompileInput` as plain values.
    """
    draft = msgspec.convert(payload, CompileInput)
    try:
        compiled: CompiledFunction = compile_function_parts(draft)
    except Invalid as error:
        return {"refused": {"detail": error.detail, "code": error.error_code, "attr": error.attr}}
    return {"compiled": msgspec.to_builtins(compiled)}


def run_step(payload: JsonObject) -> JsonObject:
    """Run a function until its next host call; see ``runtime.step.run_step``.

    Args:
        payload: a ``StepRequest`` as plain values.

    Returns:
        A ``Step`` as plain values.
    """
    return msgspec.to_builtins(run(msgspec.convert(payload, StepRequest)))


def match(payload: JsonObject) -> MatchAnswer:
    """Match a function with an event; for test runs.

    Args:
        payload: ``{"function": {...}, "globals": {...}}``.
    """
    function = msgspec.convert(payload["function"], ExecutableFunction)
    values = filter_globals(payload["globals"])
    match = match_function(function, values, Conditions(capacity=100))
    reasons: dict[str, str] = {}
    if match.outcome == "filtered":
        reasons[""] = filter_skip_reason(function.filter, values)
    for number in match.unmatched:
        mapping = function.mapping(number)
        reasons[str(number)] = filter_skip_reason(mapping and mapping.filter, values)
    return {"match": msgspec.to_builtins(match), "reasons": reasons}


def match_events(payload: JsonObject) -> MatchOutcomes:
    """Match a function with many events.

    Args:
        payload: ``{"function": {...}, "globals": [{...}], "seconds": 8.5}``.
    """
    function = msgspec.convert(payload["function"], ExecutableFunction)
    end = perf_counter() + payload["seconds"]
    conditions = Conditions(capacity=100)
    outcomes: list[Outcome] = []
    error: str | None = None
    for values in payload["globals"]:
        match = match_function(function, lazy_filter_globals(values), conditions)
        outcomes.append("filtered" if match.mappings == [] else match.outcome)
        error = error or match.error
        if perf_counter() > end:
            break
    return {"outcomes": outcomes, "error": error}


def explain_match(payload: JsonObject) -> JsonObject:
    """Evaluate the conditions of a function part by part.

    Args:
        payload: an ``ExplanationRequest`` as plain values.

    Returns:
        An ``Explanation`` as plain values.
    """
    return msgspec.to_builtins(explain(msgspec.convert(payload, ExplanationRequest)))


def transform_event(payload: JsonObject) -> JsonObject:
    """Run a transformation on an event; for test runs.

    Args:
        payload: ``{"function": {...}, "event": {...}, "project": {...}, "now": "2026-…"}``,
            optionally with ``with_trace`` and ``pinned`` (``{"now", "seed"}``).

    Returns:
        A ``TransformationResult`` as plain values; a skipped one has a line that says why.
    """
    function = msgspec.convert(payload["function"], ExecutableFunction)
    transformation = Transformation(
        function,
        payload["project"],
        Conditions(capacity=100),
        with_trace=payload.get("with_trace", False),
        pinned=Pinned(**pinned) if (pinned := payload.get("pinned")) else None,
    )
    done = transformation.run(payload["event"], now=payload["now"])
    if done.outcome == "skipped":
        values = filter_globals({"project": payload["project"], "event": payload["event"]})
        reason = filter_skip_reason(function.filter, values)
        done.logs.append(RunLogLine("info", f"Skipped: {reason}"))
    return msgspec.to_builtins(done)
