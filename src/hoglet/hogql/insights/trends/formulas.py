"""Formulas of trends: arithmetic over series ``A``, ``B`` ..., evaluated on results.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results (trendsFilter.formula,
formulas).
"""

import ast
import math
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from hoglet.hogql.errors import refused


def _power(base: float, exponent: float) -> float:
    """Like ``**``; NaN for a root of a negative number and for 0 to a negative power."""
    try:
        return math.pow(base, exponent)
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf


_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right if right else 0,
    ast.Mod: lambda left, right: left % right if right else 0,
    ast.Pow: _power,
}
_SIGNS: dict[type[ast.unaryop], int] = {ast.UAdd: 1, ast.USub: -1}


class Formula(msgspec.Struct, frozen=True):
    """A parsed formula and the name of its line."""

    parsed: ast.expr
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
    formulas = [(str(node.get("formula") or ""), node.get("custom_name")) for node in nodes]
    return [
        Formula(_parsed(text, series), name or f"Formula ({text})")
        for text, name in formulas
        if text.strip()
    ]


def evaluate_formula(
    parsed: ast.expr, series: Mapping[str, list[float]], count: int
) -> list[float]:
    """Evaluate a formula for each interval.

    Division by zero, overflow and roots of negative numbers yield 0.

    Args:
        parsed: the ``parsed`` of a ``Formula``.
        series: the numbers of ``A``, ``B`` ...
        count: number of intervals.

    Example:
        >>> (formula,) = formulas_of({"formula": "A / B * 100"}, 2)
        >>> evaluate_formula(formula.parsed, {"A": [1, 2], "B": [4, 0]}, 2)
        [25.0, 0.0]
    """
    values = (_value(parsed, series, index) for index in range(count))
    return [value if math.isfinite(value) else 0 for value in values]


def _parsed(formula: str, series: int) -> ast.expr:
    """The formula parsed as Python, which has the same arithmetic; ``^`` also means power."""
    text = " ".join(formula.replace("^", "**").split())
    try:
        parsed = ast.parse(text, mode="eval").body
        _value(parsed, {chr(65 + order): [0] for order in range(series)}, 0)
    except (SyntaxError, ValueError):
        message = f"Formula '{formula[:60]}' does not parse: write it like (A + B) / C * 100"
        raise refused(message, attr="trendsFilter__formula") from None
    except (RecursionError, MemoryError):
        raise refused("The formula is too long", attr="trendsFilter__formula") from None
    return parsed


def _value(node: ast.expr, series: Mapping[str, list[float]], index: int) -> float:
    if isinstance(node, ast.Constant) and type(node.value) in {int, float}:
        return _as_float(node.value)  # pyright: ignore[reportArgumentType] (a number)
    if isinstance(node, ast.Name):
        if node.id.upper() not in series:
            message = f"A formula uses series {node.id}, which does not exist"
            raise refused(message, attr="trendsFilter__formula")
        return _as_float(series[node.id.upper()][index])
    if isinstance(node, ast.UnaryOp) and type(node.op) in _SIGNS:
        return _SIGNS[type(node.op)] * _value(node.operand, series, index)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _value(node.left, series, index), _value(node.right, series, index)
        return _OPERATORS[type(node.op)](left, right)
    raise refused(
        "A formula can contain only series letters, numbers, brackets and + - * / % **",
        attr="trendsFilter__formula",
    )


def _as_float(value: float) -> float:
    """As floats, because integers could grow without limit."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
