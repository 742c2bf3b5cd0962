"""Which functions of a program call which, directly or through others."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.type_facts import TypeFacts


def callers_by_callee(facts: TypeFacts) -> Mapping[int, set[int]]:
    """The functions that call each function where the called one is known, by their numbers."""
    callers = defaultdict[int, set[int]](set)
    for number, nodes in facts.own.items():
        for node in nodes:
            if isinstance(node, bound.CallValue):
                callee = facts.callee(node)
                if callee is not None:
                    callers[callee.number].add(number)
    return callers


def with_callers(numbers: Iterable[int], callers: Mapping[int, set[int]]) -> set[int]:
    """Functions, and all that call one of them directly or through others."""
    result = set(numbers)
    waiting = list(result)
    while waiting:
        added = callers.get(waiting.pop(), set()) - result
        result |= added
        waiting += added
    return result
