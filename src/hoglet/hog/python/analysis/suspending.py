"""Finds the functions that must be generators, because they may wait for the host."""

from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.type_facts import TypeFacts
from hoglet.hog.stdlib.table import STL


def find_suspending(
    bodies: tuple[bound.BoundFunction, ...],
    facts: TypeFacts,
    *,
    functions: frozenset[str],
    async_names: frozenset[str],
) -> tuple[set[int], bool]:
    """Numbers of the functions that can suspend, and whether calls of unknown values can.

    An unknown value can be a suspending function if any suspending function is used as a value,
    including async host functions.
    """

    def suspends(node: Any) -> bool:
        if isinstance(node, bound.CallGlobal):
            if node.name in async_names:
                return True
            entry = STL.get(node.name)
            callback = entry is not None and entry.form == "callback"
            return dynamic and callback and node.name not in functions
        if isinstance(node, bound.CallValue):
            function = facts.callee(node)
            if function is None or not isinstance(node.callee, bound.ReadVariable):
                return dynamic
            return function.number in suspending
        return False

    suspending: set[int] = set()
    dynamic = any(_names_async(node, async_names) for f in bodies for node in facts.own[f.number])
    while True:
        current = {f.number for f in bodies if any(map(suspends, facts.own[f.number]))}
        escaped = current - {function.number for function in facts.direct.values()} - {0}
        if current == suspending and dynamic == (dynamic or bool(escaped)):
            return suspending, dynamic
        suspending = current
        dynamic = dynamic or bool(escaped)


def _names_async(node: Any, async_names: frozenset[str]) -> bool:
    return (
        isinstance(node, bound.ReadGlobal) and len(node.path) == 1 and node.path[0] in async_names
    )
