"""Finds lookup tables: arrays and objects of literals, which are made once for all runs.

``let owners := {'emea': {'name': 'Ada'}}`` need not be made in each run if the program only looks
at it. So such a value counts as the host's own data, see
:mod:`hoglet.hog.python.analysis.borrowing`.
"""

from collections.abc import Collection, Sequence
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.runtime.settled_data import is_settled_leaf

_DEEPEST: Final = 8
_LARGEST_INT: Final = 2**30


def tables(nodes: Sequence[Any], flat: Collection[bound.Variable]) -> dict[int, bound.Variable]:
    """The values of declarations that may be tables, by identity, and the declared variables.

    Without ``TypeFacts.literals``, the ``flat`` ones, of which more is known.
    """
    return {
        id(node.value): node.variable
        for node in nodes
        if isinstance(node, bound.Declare)
        and not (node.variable.assigned or node.recursive or node.early)
        and isinstance(node.value, bound.MakeObject | bound.MakeArray)
        and node.value.items
        and node.variable not in flat
        and is_constant(node.value)
    }


def is_data(node: Any) -> bool:
    """Whether an expression is an array or object of literals, which is as good as host data."""
    return isinstance(node, bound.MakeArray | bound.MakeObject) and is_constant(node)


def is_constant(node: Any, deepest: int = _DEEPEST) -> bool:
    """Whether an expression consists of literals that are the same after an import."""
    if isinstance(node, bound.Constant):
        return _is_same_imported(node.value)
    if deepest == 0:
        return False
    if isinstance(node, bound.MakeArray):
        return all(is_constant(item, deepest - 1) for item in node.items)
    return isinstance(node, bound.MakeObject) and all(
        _is_usual_key(key) and is_constant(item, deepest - 1) for key, item in node.items
    )


def _is_same_imported(value: Any) -> bool:
    if isinstance(value, float):
        return False  # a whole one would become an int
    if isinstance(value, int):
        return abs(value) < _LARGEST_INT
    return is_settled_leaf(value)


def _is_usual_key(node: Any) -> bool:
    """Whether a key is a text, and not one that marks the host's form of a date or an error."""
    key = node.value if isinstance(node, bound.Constant) else None
    return isinstance(key, str) and not key.startswith("__") and is_settled_leaf(key)
