"""Conditions of a run other than its filters, and the list of those that fail. Pure."""

from collections.abc import Iterator

from hoglet.functions import types
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.explain_match.messages import ExplainedCondition, ExplainedRun
from hoglet.functions.explain_match.schemas import MatchFailure, MatchMapping, MatchMasking
from hoglet.functions.json_types import Globals
from hoglet.functions.tables import HogFunctionRow
from hoglet.functions.watcher.rules import DISABLED, NOT_RUN

_WITHOUT_PERSON = (types.TRANSFORMATION, types.INTERNAL_DESTINATION)


def as_seen(
    function: ExecutableFunction, run: Globals, *, is_stored: bool
) -> tuple[Globals, ExplainedCondition | None, list[str]]:
    """The globals that filters of this function see, the condition on its source, and notes."""
    notes: list[str] = []
    source = source_condition(function, run, is_stored=is_stored)
    if function.type in _WITHOUT_PERSON:
        run = {**run, "person": None, "groups": {}}
        notes.append("Filters of this type of function do not see the person and the groups.")
    elif function.source == "person-updates":
        run = {**run, "groups": {}}
        notes.append("The function only runs for events that change their person.")
    elif is_stored and run.get("groups"):
        notes.append("Group properties are the current ones, not those when the event arrived.")
    if is_stored and function.type == types.TRANSFORMATION:
        notes.append("The stored event already passed the transformations.")
    if function.type in types.SITE:
        notes.append("The filter runs in the browser; here it is evaluated on the server.")
    return run, source, notes


def source_condition(
    function: ExecutableFunction, run: Globals, *, is_stored: bool
) -> ExplainedCondition | None:
    """The condition on what triggers the function; None if captured events do."""
    reason = None
    if function.type == types.INTERNAL_DESTINATION and is_stored:
        reason = "internal destinations run on internal events, not on captured ones"
    elif function.source.startswith("data-warehouse"):
        reason = "functions with this source never run on events"
    elif function.source == "person-updates" and not run.get("person"):
        reason = "the event has no person"
    elif function.source == "events" and function.type != types.INTERNAL_DESTINATION:
        return None
    path = "type" if function.type == types.INTERNAL_DESTINATION else "filters.source"
    return ExplainedCondition(kind="source", path=path, matched=reason is None, reason=reason)


def failures(condition: ExplainedCondition) -> Iterator[MatchFailure]:
    """The parts that make a condition false."""
    if condition.matched:
        return
    if condition.operator is None:
        reason = condition.reason or "does not hold"
        yield {"kind": condition.kind, "path": condition.path, "reason": reason}
    for part in condition.parts:
        yield from failures(part)


def mapping_failures(mapping: MatchMapping, run: ExplainedRun) -> Iterator[MatchFailure]:
    """Why a mapping does not match."""
    path = f"mappings[{mapping['index']}]"
    if mapping["disabled"]:
        yield {"kind": "mappings", "path": f"{path}.disabled", "reason": "the mapping is disabled"}
        return
    for condition in run.conditions:
        for failure in failures(condition):
            yield {**failure, "kind": "mappings"}


def run_failures(
    run: ExplainedRun, masking: MatchMasking | None, prefix: str
) -> Iterator[MatchFailure]:
    """Why a run does not start although its condition holds; ``prefix``: path of its mapping."""
    if run.inputs_error is not None:
        yield {"kind": "inputs", "path": f"{prefix}inputs", "reason": run.inputs_error}
    if masking is not None and masking["masked"]:
        reason = f"{masking['count']} runs with this hash in the current window"
        yield {"kind": "masking", "path": "masking", "reason": reason}


def status_failures(row: HogFunctionRow | None) -> Iterator[MatchFailure]:
    """Why a stored function does not run on any event."""
    if row is None:
        return
    if not row.enabled and row.state not in NOT_RUN:
        yield {"kind": "enabled", "path": "enabled", "reason": "the function is disabled"}
    elif row.state in NOT_RUN:
        who = "the watcher" if row.state == DISABLED else "an administrator"
        yield {"kind": "status", "path": "status", "reason": f"{who} disabled the function"}
