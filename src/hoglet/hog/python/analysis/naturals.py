"""Finds counters that are never negative: of loops from 0 or above, and items of ``range``.

Their remainders are ints that need no test: a negative number has the remainder -0 in Hog, which is
a float.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.library import LAMBDA_PARAMETER, lambda_argument
from hoglet.hog.python.analysis.loop_shapes import loop_shape

SMALL_FACTOR: Final = 64
"""No run lasts long enough for a counter that this times leads beyond 2^53."""

_LARGEST_DIVISOR: Final = 2**31


def find_naturals(
    nodes: Iterable[Any],
    sources: Mapping[bound.Variable, bound.CallGlobal],
    host_names: Collection[str],
) -> set[bound.Variable]:
    """The variables that only hold integers from 0 on, which only loops change.

    Args:
        nodes: all nodes of the program.
        sources: variables with the unchanged result of a call, see ``TypeFacts.sources``.
        host_names: names of host functions, which hide library functions.
    """
    naturals = set[bound.Variable]()
    for node in nodes:
        if isinstance(node, bound.For):
            shape = loop_shape(node)
            if shape is not None and shape.step > 0 and _literal(shape.start) is not None:
                naturals.add(shape.variable)
        elif isinstance(node, bound.ForIn):
            if _counts_up(node.collection, sources, host_names) and not node.value.assigned:
                naturals.add(node.value)
        elif (function := lambda_argument(node, frozenset(host_names))) is not None:
            index = LAMBDA_PARAMETER[node.name]
            is_item = index < len(function.parameters)
            if is_item and _counts_up(node.arguments[1], sources, host_names):
                naturals.update(item for item in (function.parameters[index],) if not item.assigned)
    return naturals


def _counts_up(
    node: Any,
    sources: Mapping[bound.Variable, bound.CallGlobal],
    host_names: Collection[str],
) -> bool:
    """Whether an expression is a range from 0 or above."""
    if isinstance(node, bound.ReadVariable):
        node = sources.get(node.variable)
    match node:
        case bound.CallGlobal(name="range", arguments=(_,)):
            return node.name not in host_names
        case bound.CallGlobal(name="range", arguments=(first, _)):
            return node.name not in host_names and _literal(first) is not None
        case bound.CallGlobal(name="arrayFilter", arguments=(_, items)):
            return node.name not in host_names and _counts_up(items, sources, host_names)
        case _:
            return False


def is_natural(node: Any, naturals: Collection[bound.Variable]) -> bool:
    """Whether an expression of integers is certainly not negative."""
    match node:
        case bound.ReadVariable(variable=variable):
            return variable in naturals
        case bound.Arithmetic(operator="+" | "*"):
            return is_natural(node.left, naturals) and is_natural(node.right, naturals)
        case bound.Arithmetic(operator="%"):
            return is_natural(node.left, naturals) and is_divisor(node.right)
        case _:
            return _literal(node) is not None


def is_small_multiple(node: bound.Arithmetic, naturals: Collection[bound.Variable]) -> bool:
    """Whether an expression is such a counter times a small literal."""
    pairs = ((node.left, node.right), (node.right, node.left))
    return node.operator == "*" and any(
        isinstance(counter, bound.ReadVariable)
        and counter.variable in naturals
        and 0 < (_literal(factor) or 0) <= SMALL_FACTOR
        for counter, factor in pairs
    )


def is_divisor(node: Any) -> bool:
    """Whether an expression is a positive literal that is an integer."""
    return 0 < (_literal(node) or 0) < _LARGEST_DIVISOR


def _literal(node: Any) -> int | None:
    """A literal integer from 0 on, None for any other expression."""
    value = node.value if isinstance(node, bound.Constant) else None
    return value if type(value) is int and value >= 0 else None
