"""Finds the loop around each part of a program."""

from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.type_facts import TypeFacts
from hoglet.hog.python.analysis.visitor import declared_by, parts

_LOOPS: Final = (bound.While, bound.For, bound.ForIn)


def loops_around(facts: TypeFacts) -> dict[int, Any]:
    """The innermost loop, else the function, around each node and each variable's binding."""
    around: dict[int, Any] = {}
    for function in facts.functions.values():
        around.update((id(parameter), function) for parameter in function.parameters)
        waiting: list[tuple[Any, Any]] = [(function.body, function)]
        while waiting:
            node, loop = waiting.pop()
            around[id(node)] = loop
            inside = node if isinstance(node, _LOOPS) else loop
            for variable in declared_by(node):
                around[id(variable)] = inside
            waiting += [
                (part, inside) for part in parts(node) if type(part) is not bound.BoundFunction
            ]
    return around
