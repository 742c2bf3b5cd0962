"""Formulas of trends: arithmetic over series ``A``, ``B`` ..., evaluated on results.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results (trendsFilter.formula,
formulas).
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from hoglet.hogql.errors import refused
from hoglet.hogql.frontend.preprocess import read_expression
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree

_OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right if right else 0,
    "%": lambda left, right: left % right if right else 0,
}


class Formula(msgspec.Struct, frozen=True):
    """A parsed formula and the name of its line."""

    parsed: Any
    label: str


def formulas_of(filter_: Mapping[str, Any], series: int) -> list[Formula]:
    """The formulas of a ``trendsFilter``: nodes, a list, or a single one.

    Args:
        filter_: the ``trendsFilter``.
        series: number of series.

    Raises:
        SourceError: one is not arithmetic over these series.
    """
    nodes = filter_.get("formulaNodes") or []
    if not nodes:
        texts = filter_.get("formulas") or [filter_.get("formula")]
        nodes = [{"formula": text} for text in texts]
    found = [(str(node.get("formula") or ""), node.get("custom_name")) for node in nodes]
    return [
        Formula(_parsed(text, series), name or f"Formula ({text})")
        for text, name in found
        if text.strip()
    ]


def evaluate_formula(parsed: Any, series: Mapping[str, list[float]], count: int) -> list[float]:
    """Evaluate a formula for each interval; division by zero and overflow yield 0.

    Args:
        parsed: of a ``Formula``.
        series: the numbers of ``A``, ``B`` ...
        count: number of intervals.

    Example:
        >>> (formula,) = formulas_of({"formula": "A / B * 100"}, 2)
        >>> evaluate_formula(formula.parsed, {"A": [1, 2], "B": [4, 0]}, 2)
        [25.0, 0.0]
    """
    found = (_value(parsed, series, index) for index in range(count))
    return [value if math.isfinite(value) else 0 for value in found]


def _parsed(formula: str, series: int) -> Any:
    try:
        parsed = read_expression(formula)
    except SourceError as error:
        raise refused(
            f"Formula '{formula}' does not parse: {error.message}", attr="trendsFilter__formula"
        ) from None
    _value(parsed, {chr(65 + place): [0] for place in range(series)}, 0)
    return parsed


def _value(node: Any, series: Mapping[str, list[float]], index: int) -> float:
    if isinstance(node, tree.Constant) and type(node.value) in (int, float):
        return _as_float(node.value)
    if isinstance(node, tree.Field) and len(node.chain) == 1:
        name = str(node.chain[0])
        if name.upper() not in series:
            raise refused(
                f"A formula uses series {name}, which does not exist", attr="trendsFilter__formula"
            )
        return _as_float(series[name.upper()][index])
    if isinstance(node, tree.ArithmeticOperation) and node.op in _OPERATORS:
        left, right = _value(node.left, series, index), _value(node.right, series, index)
        return _OPERATORS[node.op](left, right)
    raise refused(
        "A formula can contain only series letters, numbers and + - * / %",
        attr="trendsFilter__formula",
    )


def _as_float(value: float) -> float:
    """As floats, because integers could grow without limit."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
