"""Finds functions that are made once for all runs, not anew in each.

Making a function takes as long as four reads of properties, more if it has captured variables, and
one that calls itself is garbage that only the collector finds. A function that depends on nothing
but its arguments, and on other such functions, is the same in each run.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.borrowing import Borrowing
from hoglet.hog.python.analysis.type_facts import TypeFacts


def hoisted_functions(
    facts: TypeFacts, borrowing: Borrowing
) -> dict[bound.Variable, bound.BoundFunction]:
    """Functions of the program itself that are independent of the run, by their variables."""
    declared = [node for node in facts.own[0] if isinstance(node, bound.DeclareFunction)]
    inner = defaultdict[int | None, list[bound.BoundFunction]](list)
    for function in facts.functions.values():
        inner[function.parent].append(function)
    hoisted: dict[bound.Variable, bound.BoundFunction] = {}
    for node in sorted(declared, key=_number):  # those that a function captures come before it
        variable = node.variable
        if (
            not variable.assigned
            and variable not in facts.loops  # there each round makes a function of its own
            and all(used in hoisted or used is variable for used in node.function.captures)
            and not any(
                _depends_on_run(part, facts, borrowing) for part in _within(node.function, inner)
            )
        ):
            hoisted[variable] = node.function
    return hoisted


def _number(node: bound.DeclareFunction) -> int:
    return node.function.number


def _within(
    function: bound.BoundFunction, inner: Mapping[int | None, list[bound.BoundFunction]]
) -> Iterator[bound.BoundFunction]:
    """A function and those inside it."""
    waiting = [function]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += inner.get(part.number, ())


def _depends_on_run(function: bound.BoundFunction, facts: TypeFacts, borrowing: Borrowing) -> bool:
    """Whether the Python function would use names that belong to the run."""
    if borrowing.same_origins and not borrowing.variables.isdisjoint(function.variables):
        return True  # it may use the imports of parts that are compared
    return any(map(_reads_global, facts.own[function.number]))


def _reads_global(node: Any) -> bool:
    return isinstance(node, bound.ReadGlobal)
