"""Finds the functions that must be generators, because they may wait for the host."""

from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.call_graph import callers_by_callee, with_callers
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
    starts, unknown = set[int](), set[int]()
    for body in bodies:
        for node in facts.own[body.number]:
            if isinstance(node, bound.CallGlobal) and node.name in async_names:
                starts.add(body.number)
            elif _calls_unknown(node, facts, functions):
                unknown.add(body.number)
    dynamic = any(_names_async(node, async_names) for f in bodies for node in facts.own[f.number])
    direct = {function.number for function in facts.direct.values()} | {0}
    callers = callers_by_callee(facts)
    if not dynamic:
        suspending = with_callers(starts, callers)
        if suspending <= direct:
            return suspending, False
    return with_callers(starts | unknown, callers), True


def _calls_unknown(node: Any, facts: TypeFacts, functions: frozenset[str]) -> bool:
    """Whether a call may reach any function that is used as a value."""
    if isinstance(node, bound.CallGlobal):
        entry = STL.get(node.name)
        return entry is not None and entry.form == "callback" and node.name not in functions
    if isinstance(node, bound.CallValue):
        return facts.callee(node) is None or not isinstance(node.callee, bound.ReadVariable)
    return False


def _names_async(node: Any, async_names: frozenset[str]) -> bool:
    return (
        isinstance(node, bound.ReadGlobal) and len(node.path) == 1 and node.path[0] in async_names
    )
