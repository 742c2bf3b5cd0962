"""Formulas of trends: arithmetic over series ``A``, ``B`` ..., evaluated on finished numbers.

Source: spec/query-endpoints.md section 10.6 (trendsFilter.formula, formulas).
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from hoglet.hogql.errors import refused
from hoglet.kit.errors import SourceError
from hoglet.syntax import parse_expression, tree

_OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right if right else 0,
    "%": lambda left, right: left % right if right else 0,
}


class Formula(msgspec.Struct, frozen=True):
    """A formula and what its line is called."""

    text: str
    label: str


def formulas_of(filter_: Mapping[str, Any]) -> list[Formula]:
    """The formulas of a ``trendsFilter``: its nodes, else its list, else the one."""
    nodes = filter_.get("formulaNodes") or []
    if not nodes:
        texts = filter_.get("formulas") or [filter_.get("formula")]
        nodes = [{"formula": text} for text in texts]
    found = [(str(node.get("formula") or ""), node.get("custom_name")) for node in nodes]
    return [Formula(text, name or f"Formula ({text})") for text, name in found if text.strip()]


def evaluate_formula(formula: str, series: Mapping[str, list[float]], count: int) -> list[float]:
    """The formula for each interval; a missing series is 0, dividing by 0 gives 0.

    Raises:
        SourceError: it is no arithmetic over series.

    Example:
        >>> evaluate_formula("A / B * 100", {"A": [1, 2], "B": [4, 0]}, 2)
        [25.0, 0]
    """
    try:
        parsed = parse_expression(formula)
    except SourceError as error:
        raise refused(f"Formula '{formula}' does not parse: {error.message}") from None
    return [_value(parsed, series, index) for index in range(count)]


def _value(node: Any, series: Mapping[str, list[float]], index: int) -> float:
    if isinstance(node, tree.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, tree.Field) and len(node.chain) == 1:
        data = series.get(str(node.chain[0]).upper())
        return data[index] if data is not None else 0
    if isinstance(node, tree.ArithmeticOperation) and node.op in _OPERATORS:
        left, right = _value(node.left, series, index), _value(node.right, series, index)
        return _OPERATORS[node.op](left, right)
    raise refused("A formula holds series letters, numbers and + - * / % only")
