"""Which response statuses a program handles itself. Pure.

A program that never checks the status would succeed whatever the receiver responds. So a status
counts as handled if one of the program's comparisons distinguishes it from 200: ``response.status
== 404`` handles 404 only, ``response.status >= 400`` handles all, ``print(response.status)`` none.

Source: docs/adr/0015-handled-statuses.md.
"""

import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from hoglet.functions.filters.roots import nodes_of
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree
from hoglet.syntax.parse import parse_program

_SUCCESS: Final = 200
_CACHED = 4096
_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda status, listed: status in listed,
    "not in": lambda status, listed: status not in listed,
}
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}

_NOT_ANSWERS = frozenset({"event", "person", "groups", "inputs", "project", "source", "request"})

type _Test = Callable[[int], bool]


def is_handled(source: str, status: int) -> bool:
    """Whether a program treats a response with this status differently from a success.

    Example:
        >>> is_handled("let r := fetch('https://a'); if (r.status == 404) { return }", 404)
        True
        >>> is_handled("let r := fetch('https://a'); print(r.status)", 404)
        False
    """
    return any(test(status) != test(_SUCCESS) for test in _tests(source))


@lru_cache(maxsize=_CACHED)
def _tests(source: str) -> tuple[_Test, ...]:
    """The program's comparisons of statuses, as functions of a status."""
    try:
        nodes = list(nodes_of(parse_program(source)))
    except SourceError:
        return ()
    names = {
        node.name
        for node in nodes
        if isinstance(node, tree.VariableDeclaration) and _is_status(node.expr, frozenset())
    }
    comparisons = [node for node in nodes if isinstance(node, tree.CompareOperation)]
    found = [_test(comparison, frozenset(names)) for comparison in comparisons]
    return tuple(test for test in found if test is not None)


def _test(node: tree.CompareOperation, names: frozenset[str]) -> _Test | None:
    left, right, name = node.left, node.right, node.op
    if not _is_status(left, names):
        left, right, name = right, left, _MIRRORED.get(name, name)
        if not _is_status(left, names) or name in {"in", "not in"}:
            return None
    compare, other = _OPERATORS.get(name), _numbers(right)
    if compare is None or (isinstance(right, tree.Constant) and not other):
        return None
    if other is None:  # only known at run time; the author did consider statuses
        return lambda status: status == _SUCCESS
    if name in {"in", "not in"}:
        return lambda status: compare(status, other)
    return lambda status: any(compare(status, number) for number in other)


def _is_status(node: Any, names: frozenset[str]) -> bool:
    """``response.status``, ``response['status']``, or a variable declared as one of them."""
    if isinstance(node, tree.Field):
        if len(node.chain) == 1:
            return node.chain[0] in names
        is_answers = node.chain[0] not in _NOT_ANSWERS and node.chain[-2] != "body"
        return node.chain[-1] == "status" and is_answers
    if isinstance(node, tree.ArrayAccess) and isinstance(node.property, tree.Constant):
        return node.property.value == "status"
    return False


def _numbers(node: Any) -> list[float] | None:
    """The literal numbers; None for what is only known at run time."""
    if isinstance(node, tree.Constant):
        number = _number(node.value)
        return [] if number is None else [number]
    if isinstance(node, tree.Array | tree.Tuple):
        parts = [_numbers(item) for item in node.exprs]
        return None if None in parts else [number for part in parts if part for number in part]
    return None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)  # Hog compares text with numbers as numbers
    except ValueError:
        return None
