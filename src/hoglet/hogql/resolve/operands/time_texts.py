"""Rejects strings that are compared with times but are none.

The engine would reject them at every run. It decides about strings that could be dates.

Source: docs/spec/query-endpoints.md#104-functions.
"""

import calendar
import re
from collections.abc import Iterator
from typing import Any

from hoglet.hogql.errors import refused
from hoglet.hogql.plan import Expr, FunctionCall, Value
from hoglet.hogql.types import TIMES
from hoglet.syntax import tree

_MONTH = re.compile(r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE)
_SIGNED = re.compile(r"[+-]\d*[a-zA-Z]+")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?!\d)")
_CONVERSIONS = frozenset(
    {"todate", "todatetime", "todatetime64", "parsedatetime", "parsedatetimebesteffort"}
)
_HINT = "write it as '2026-01-05' or '2026-01-05 10:00:00', or compute it: now() - interval 7 day"


def refuse_no_times(left: Expr, right: Expr, node: Any) -> None:
    """Reject constants of a comparison with a time that cannot be times.

    Args:
        left: a side, resolved.
        right: the other side.
        node: the comparison as written; the values of variables are not part of it.

    Raises:
        SourceError: at the constant.
    """
    if left.type.name in TIMES or right.type.name in TIMES:
        given = {*_texts(left), *_texts(right)}
        for constant, is_converted in _constants(node):
            if (is_converted or constant.value in given) and is_surely_no_time(constant.value):
                message = f"'{constant.value}' cannot be parsed as a timestamp"
                raise refused(message, constant, hint=_HINT)


def is_surely_no_time(text: str) -> bool:
    """Whether the engine cannot read a text as a date or time; of year 0, it takes this year.

    Example:
        >>> [is_surely_no_time(text) for text in ("abc", "-7d", "2026-02-30", "2026-02-28", "Jan")]
        [True, True, True, False, False]
    """
    if not any(map(str.isdigit, text)):
        return _MONTH.search(text) is None
    if _SIGNED.fullmatch(text):
        return True
    match = _DATE.match(text)
    if match is None:
        return False
    year, month, day = map(int, match.groups())
    if year == 0 or month > 12:
        return True
    return month >= 1 and day > calendar.monthrange(year, month)[1]


def _texts(side: Expr) -> Iterator[Any]:
    """The strings of a side that are compared without conversion."""
    if isinstance(side, Value) and isinstance(side.value, str):
        yield side.value
    elif isinstance(side, FunctionCall) and side.function in {"array", "tuple"}:
        for item in side.args:
            yield from _texts(item)


def _constants(node: Any) -> Iterator[tuple[tree.Constant, bool]]:
    """The string literals of a comparison, and whether a call converts each to a time."""
    for operand in _operands(node):
        if isinstance(operand, tree.Array | tree.Tuple):
            for item in operand.exprs:
                yield from _written(item)
        else:
            yield from _written(operand)


def _operands(node: Any) -> tuple[Any, ...]:
    if isinstance(node, tree.BetweenExpr):
        return node.expr, node.low, node.high
    if isinstance(node, tree.CompareOperation | tree.IsDistinctFrom):
        return node.left, node.right
    return node.args if isinstance(node, tree.Call) else ()


def _written(operand: Any) -> Iterator[tuple[tree.Constant, bool]]:
    is_converted = False
    if isinstance(operand, tree.Call) and operand.name.lower() in _CONVERSIONS and operand.args:
        operand, is_converted = operand.args[0], True
    if not isinstance(operand, tree.Constant) or operand.start is None:
        return
    if isinstance(operand.value, str):
        yield operand, is_converted
