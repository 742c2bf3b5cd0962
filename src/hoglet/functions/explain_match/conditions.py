"""Evaluates a filter part by part. Pure; runs in a sandbox worker.

The parts are those of the compiled condition that production evaluates, not of a new compilation.
"""

import msgspec

from hoglet.functions.executable.matching import Conditions, mask_key, match_function
from hoglet.functions.executable.model import ExecutableFunction, ExecutableMapping
from hoglet.functions.explain_match.messages import (
    ExplainedCondition,
    ExplainedRun,
    Explanation,
    ExplanationRequest,
)
from hoglet.functions.explain_match.outline import Outline, outline_of, split
from hoglet.functions.json_types import FunctionFilters, Globals
from hoglet.functions.runtime import engine
from hoglet.functions.runtime.filter_globals import filter_globals
from hoglet.functions.runtime.inputs import InputsFailed, build_inputs
from hoglet.functions.runtime.redaction import clean_line, secret_texts
from hoglet.functions.test_runs.skip_reason import condition_text, read_condition, skip_reason
from hoglet.syntax import tree

_INCOMPLETE = tree.Constant(value=1)
_INCOMPLETE_REASON = (
    "it is the number 1, not true: a property filter needs a key, a type and a value"
)


def explain(request: ExplanationRequest) -> Explanation:
    """Evaluate the conditions of a function and its mappings, all parts of each."""
    function, values = request.function, filter_globals(request.globals)
    match = match_function(function, values, Conditions(capacity=100))
    own = _explained(function, request.filters, "filters", request.test_accounts, values)
    explanation = Explanation(own=own, error=match.error)
    if not function.mappings:
        if own.matched:
            _prepare(own, function, None, request.globals)
        return explanation
    explanation.mappings = []
    for index, mapping in enumerate(function.mappings):
        filters, path = request.mapping_filters[index], f"mappings[{index}].filters"
        run = _explained(mapping, filters, path, request.test_accounts, values)
        if own.matched and run.matched and not mapping.disabled:
            _prepare(run, function, mapping.number, request.globals)
        explanation.mappings.append(run)
    return explanation


def _prepare(
    run: ExplainedRun, function: ExecutableFunction, mapping: int | None, globals_: Globals
) -> None:
    """Build the inputs and the masking hash of a run."""
    try:
        now = str(globals_["event"].get("timestamp") or "")
        inputs = build_inputs(function, globals_, mapping=mapping, now=now)
    except InputsFailed as error:
        run.inputs_error = clean_line(str(error), secret_texts(function.inputs_of(mapping), {}))
        return
    run.mask = mask_key(function, {**globals_, "inputs": inputs})


def _explained(
    function: ExecutableFunction | ExecutableMapping,
    filters: FunctionFilters,
    path: str,
    test_accounts: list[str],
    values: Globals,
) -> ExplainedRun:
    if function.filter is None:
        reason = filters.get("bytecode_error") or "the filter does not compile"
        refused = ExplainedCondition(
            kind="bytecode_error", path=path, matched=False, reason=str(reason)
        )
        return ExplainedRun(matched=False, conditions=[refused])
    condition = read_condition(function.filter)
    whole = _leaf(Outline("filters", path), condition, values, is_operand=False)
    evaluated = _evaluate(outline_of(filters, test_accounts, path), condition, values)
    is_divided = evaluated.operator is not None and evaluated.matched is whole.matched
    return ExplainedRun(
        matched=whole.matched, conditions=evaluated.parts if is_divided else [whole]
    )


def _evaluate(
    outline: Outline,
    condition: "tree.Expression",
    values: Globals,
    *,
    is_operand: bool = False,
) -> ExplainedCondition:
    if outline.operator is None:
        return _leaf(outline, condition, values, is_operand=is_operand)
    if not outline.parts:
        return ExplainedCondition(
            kind=outline.kind, path=outline.path, matched=True, operator=outline.operator
        )
    operands = split(condition, outline.operator, len(outline.parts))
    if operands is None:  # compiled from earlier test account filters; recompiled within seconds
        return _leaf(outline, condition, values, is_operand=is_operand)
    inner = is_operand or len(operands) > 1
    parts = [
        _evaluate(part, operand, values, is_operand=inner)
        for part, operand in zip(outline.parts, operands, strict=True)
    ]
    holds = all if outline.operator == "all" else any
    return ExplainedCondition(
        kind=outline.kind,
        path=outline.path,
        matched=holds(part.matched for part in parts),
        operator=outline.operator,
        parts=parts,
    )


def _leaf(
    outline: Outline, condition: "tree.Expression", values: Globals, *, is_operand: bool
) -> ExplainedCondition:
    """Evaluate an undivided part: an operand must be truthy, a whole filter exactly true."""
    leaf = ExplainedCondition(kind=outline.kind, path=outline.path, matched=False)
    leaf.condition = condition_text(condition)
    evaluated = tree.And(exprs=(condition, tree.Constant(value=True))) if is_operand else condition
    try:
        leaf.matched = engine.compile_filter(msgspec.to_builtins(evaluated))(values) is True
    except engine.EvaluationFailed as error:
        leaf.error = leaf.reason = str(error)
        return leaf
    if not leaf.matched:
        leaf.reason = (
            _INCOMPLETE_REASON if condition == _INCOMPLETE else skip_reason(condition, values)
        )
    return leaf
