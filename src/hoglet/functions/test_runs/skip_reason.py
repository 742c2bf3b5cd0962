"""Explains why a filter does not match an event. Pure; runs in a sandbox worker.

Splits the condition: reports the first false part of AND, and all parts of OR.
"""

from typing import Any

import msgspec

from hoglet.functions.filters.roots import global_paths
from hoglet.functions.json_types import ConditionTree, Globals
from hoglet.functions.runtime import engine
from hoglet.hog.runtime.formatting import printed, quoted
from hoglet.kit.json import is_array, is_object
from hoglet.syntax import tree

_PARTS_SHOWN = 5
_VALUE_CHARACTERS = 200
_conditions: msgspec.json.Decoder[Any] = msgspec.json.Decoder(tree.Expression)


def read_condition(condition: ConditionTree) -> "tree.Expression":
    """A condition from the JSON of ``hoglet.syntax.tree``."""
    return _conditions.decode(msgspec.json.encode(condition))


def filter_skip_reason(condition: ConditionTree | None, values: Globals) -> str:
    """As :func:`skip_reason`, for the JSON of a stored condition; None if it does not compile."""
    if condition is None:
        return "the filter does not compile"
    return skip_reason(read_condition(condition), values)


def skip_reason(node: Any, values: Globals) -> str:
    """The part of a condition that is not true.

    Args:
        node: a condition that evaluated to something other than true.
        values: the result of ``filter_globals``.

    Returns:
        ``event = 'bought' does not hold: event is '$pageview'``.
    """
    if isinstance(node, tree.And):
        failing = next((part for part in node.exprs if not _holds(part, values)), None)
        return "the condition is not a boolean" if failing is None else skip_reason(failing, values)
    if isinstance(node, tree.Or):
        reasons = [skip_reason(part, values) for part in node.exprs[:_PARTS_SHOWN]]
        rest = len(node.exprs) - len(reasons)
        more = f"; and {rest} more" if rest else ""
        return f"none of {len(node.exprs)} alternatives holds: {'; '.join(reasons)}{more}"
    paths = list(dict.fromkeys(global_paths(node)))
    values_read = [f"{_path(path)} is {_value(_read(values, path))}" for path in paths]
    return f"{condition_text(node)} does not hold" + (
        f": {', '.join(values_read)}" if values_read else ""
    )


def _holds(node: Any, values: Globals) -> bool:
    try:
        return engine.compile_filter(msgspec.to_builtins(node))(values) is True
    except engine.EvaluationFailed:
        return False


def condition_text(node: Any) -> str:  # noqa: PLR0911 (a table of kinds)
    """A condition as Hog, for the constructs that filters use."""
    match node:
        case tree.Field():
            return _path(node.chain)
        case tree.Constant():
            return _value(node.value)
        case tree.CompareOperation():
            name = "=" if node.op == "==" else node.op
            return f"{condition_text(node.left)} {name} {condition_text(node.right)}"
        case tree.Call():
            return f"{node.name}({', '.join(map(condition_text, node.args))})"
        case tree.Not():
            return f"not ({condition_text(node.expr)})"
        case tree.And():
            return " and ".join(f"({condition_text(part)})" for part in node.exprs)
        case tree.Or():
            return " or ".join(f"({condition_text(part)})" for part in node.exprs)
        case tree.Tuple() | tree.Array():
            return f"({', '.join(map(condition_text, node.exprs))})"
        case _:
            return "an expression"


def _path(chain: tuple[str | int, ...]) -> str:
    return ".".join(map(str, chain))


def _read(values: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        values = values.get(step) if is_object(values) else None
    return values


def _value(value: Any) -> str:
    if isinstance(value, str):
        text = quoted(value)
    elif is_object(value) or is_array(value):
        text = "an object" if is_object(value) else "a list"
    else:
        text = printed(value)
    return text if len(text) <= _VALUE_CHARACTERS else text[:_VALUE_CHARACTERS] + "…"
