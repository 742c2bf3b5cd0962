"""Builds the ``inputs`` global: templates rendered in order, each seeing the inputs before it.

Source: spec/hog-functions.md section 13.2.
"""

from typing import Any

from hoglet.functions.runnable import RunnableFunction, RunnableInput
from hoglet.functions.running import engine
from hoglet.functions.running.liquid import LiquidFailed, render_liquid

EXTEND = "$$_extend_object"
COMPILED_TYPES = frozenset(
    {
        "string",
        "boolean",
        "dictionary",
        "json",
        "email",
        "native_email",
        "posthog_ticket_tags",
        "customer_analytics_account_properties",
        "customer_analytics_account_relationships",
    }
)


class InputsFailed(Exception):
    """An input could not be built; the message names it and the cause."""


def build_inputs(
    function: RunnableFunction,
    globals_: dict[str, Any],
    *,
    mapping: int | None = None,
    now: str,
) -> dict[str, Any]:
    """All inputs of a run.

    Args:
        function: gives the inputs in evaluation order.
        globals_: of the run, without ``inputs``.
        mapping: index of the mapping whose inputs overlay those of the function.
        now: ISO instant that ``now`` of Liquid templates shows.

    Raises:
        InputsFailed: a template failed.
    """
    items = list(function.inputs)
    if mapping is not None and function.mappings is not None:
        items.extend(function.mappings[mapping].inputs)
    with_record = function.source.startswith("data-warehouse")
    built: dict[str, Any] = {}
    for item in items:
        values = {**globals_, "inputs": built}
        try:
            built[item.key] = _build(item, values, now=now, with_record=with_record)
        except (engine.EvaluationFailed, LiquidFailed) as error:
            raise InputsFailed(f"Could not build the input {item.key}: {error}") from None
    return built


def _build(
    item: RunnableInput, values: dict[str, Any], *, now: str, with_record: bool
) -> Any:
    if item.templating is None or item.type not in COMPILED_TYPES:
        return item.value
    if item.templating == "liquid":
        return _render(item.value, {**values, "now": now})
    return _evaluate(item.value, values, with_record=with_record)


def _render(value: Any, values: dict[str, Any]) -> Any:
    if isinstance(value, str):
        return render_liquid(value, values) if "{" in value else value
    if isinstance(value, dict):
        return {key: _render(part, values) for key, part in value.items()}
    if isinstance(value, list):
        return [_render(part, values) for part in value]
    return value


def _evaluate(value: Any, values: dict[str, Any], *, with_record: bool) -> Any:
    if isinstance(value, str):
        if "{" not in value and "\\" not in value:
            return value
        return engine.evaluate_template(value, values, with_record=with_record)
    if isinstance(value, list):
        return [_evaluate(part, values, with_record=with_record) for part in value]
    if not isinstance(value, dict):
        return value
    built: dict[str, Any] = {}
    for key, part in value.items():
        made = _evaluate(part, values, with_record=with_record)
        if key == EXTEND and isinstance(made, dict):
            built.update(made)
        else:
            built[key] = made
    return built
