"""Finds functions that can reach an async call and have to be generators.

Source: docs/spec/hog-language.md#12-bytecode (async calls);
docs/spec/hog-language.md#11-deviations-from-npm-1071 (callbacks that are async).
"""

from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.type_facts import TypeFacts
from hoglet.hog.stdlib.table import STL


def find_suspending(
    bodies: tuple[bound.BoundFunction, ...],
    facts: TypeFacts,
    *,
    functions: frozenset[str],
    async_names: frozenset[str],
) -> tuple[set[int], bool]:
    """Numbers of the functions that can suspend, and whether calls of unknown values can.

    An unknown value can be a suspending function once one of those is used as a value, be it
    an async host function by its name.
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
        found = {f.number for f in bodies if any(map(suspends, facts.own[f.number]))}
        escaped = found - {function.number for function in facts.direct.values()} - {0}
        if found == suspending and dynamic == (dynamic or bool(escaped)):
            return suspending, dynamic
        suspending = found
        dynamic = dynamic or bool(escaped)


def _names_async(node: Any, async_names: frozenset[str]) -> bool:
    return (
        isinstance(node, bound.ReadGlobal) and len(node.path) == 1 and node.path[0] in async_names
    )
