"""Finds variables with arrays and objects that the program only looks at."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.library import lambda_argument
from hoglet.hog.python.analysis.visitor import parts

_LOOKS: Final = frozenset({"has", "length", "keys"})
_WITH_KNOWN_ITEMS: Final = frozenset({"splitByString", "range", "arrayFilter"})


def find_literals(
    nodes: Sequence[Any], host_names: Collection[str]
) -> dict[bound.Variable, bound.MakeArray | bound.MakeObject]:
    """``let names := ['a', 'b']`` that the program only iterates over and looks up.

    Args:
        nodes: all nodes of the program.
        host_names: names of host functions, which hide library functions.
    """
    literals = {
        node.variable: node.value
        for node in nodes
        if isinstance(node, bound.Declare)
        and not node.variable.assigned
        and not node.recursive
        and isinstance(node.value, bound.MakeArray | bound.MakeObject)
        and all(isinstance(part, bound.Constant) for part in parts(node.value))
    }
    for node in nodes:
        looked_at = _only_looked_at(node, host_names)
        for part in parts(node):
            if isinstance(part, bound.ReadVariable) and part is not looked_at:
                literals.pop(part.variable, None)
    return literals


def find_sources(
    nodes: Sequence[Any], host_names: frozenset[str]
) -> dict[bound.Variable, bound.CallGlobal]:
    """``let numbers := range(9)`` that nothing changes or refers to, with the same arguments."""
    sources = {
        node.variable: node.value
        for node in nodes
        if isinstance(node, bound.Declare)
        and not node.variable.assigned
        and isinstance(node.value, bound.CallGlobal)
        and node.value.name in _WITH_KNOWN_ITEMS
        and node.value.name not in host_names
    }
    if not sources:
        return sources
    for node in nodes:
        looked_at = _iterated(node, host_names) or _only_looked_at(node, host_names)
        for part in parts(node):
            if isinstance(part, bound.ReadVariable) and part is not looked_at:
                sources.pop(part.variable, None)
    return sources


def _iterated(node: Any, host_names: frozenset[str]) -> Any:
    """The array whose items a call passes to the lambda that is written in it."""
    return None if lambda_argument(node, host_names) is None else node.arguments[1]


def _only_looked_at(node: Any, host_names: Collection[str]) -> Any:
    """The part of a node that is iterated over or looked up in."""
    if isinstance(node, bound.ForIn):
        return node.collection
    if isinstance(node, bound.GetProperty):
        return node.target
    if isinstance(node, bound.Compare) and node.operator in {"in", "not in"}:
        return node.right
    if isinstance(node, bound.CallGlobal) and node.name in _LOOKS:
        return next(iter(node.arguments), None) if node.name not in host_names else None
    return None
