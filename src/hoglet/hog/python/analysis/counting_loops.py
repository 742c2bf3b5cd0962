"""Finds ``for`` loops that count up to a bound that does not change.

``for (let i := 1; i <= length(text); i := i + 1)`` is a loop over a range if the body neither
assigns ``i`` nor changes what ``length(text)`` is.
"""

from typing import Any, NamedTuple

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.purity import Effects
from hoglet.hog.python.analysis.type_facts import SMALL_LITERAL, TypeFacts
from hoglet.hog.python.analysis.visitor import everything


class CountingLoop(NamedTuple):
    """A loop over a range of integers.

    Attributes:
        variable: the counter.
        start: its first value.
        bound: an expression that is a number or null.
        step: what is added after each round; positive.
        inclusive: whether the bound belongs to the range.
    """

    variable: bound.Variable
    start: int
    bound: Any
    step: int
    inclusive: bool


def counting_loop(node: bound.For, facts: TypeFacts, effects: Effects) -> CountingLoop | None:
    """The range that a loop counts through; None for other loops."""
    match node:
        case bound.For(
            initializer=bound.Declare(variable=variable, value=bound.Constant(value=start)),
            condition=bound.Compare(
                operator="<" | "<=" as operator,
                left=bound.ReadVariable(variable=compared),
                right=limit,
            ),
            step=bound.AssignVariable(
                variable=increased,
                value=bound.Arithmetic(
                    operator="+",
                    left=bound.ReadVariable(variable=added_to),
                    right=bound.Constant(value=step),
                ),
            ),
        ):
            pass
        case _:
            return None
    if not variable is compared is increased is added_to or variable.captured:
        return None
    if type(start) is not int or type(step) is not int or step <= 0 or start < 0:
        return None
    if facts.variables.get(variable) not in {"Z", "C"} or not _is_fixed(
        limit, node, facts, effects
    ):
        return None
    if _is_assigned(variable, node.body):
        return None
    return CountingLoop(variable, start, limit, step, operator == "<=")


def _is_fixed(limit: Any, loop: bound.For, facts: TypeFacts, effects: Effects) -> bool:
    """Whether a bound is an integer, or the length of a value, that the loop does not change."""
    match limit:
        case bound.Constant(value=value):
            return type(value) is int and abs(value) < SMALL_LITERAL
        case bound.ReadVariable(variable=variable):
            is_integer = facts.variables.get(variable) in {"Z", "C"}
            return is_integer and not (variable.assigned or variable.captured)
        case bound.CallGlobal(name="length", arguments=(bound.ReadVariable(variable=variable),)):
            if variable.assigned or not effects.is_pure_library(limit):
                return False
            is_text = facts.variables.get(variable) == "S"
            return is_text or not _changes_objects(loop.body, facts, effects)
        case _:
            return False


def _changes_objects(body: Any, facts: TypeFacts, effects: Effects) -> bool:
    """Whether a loop's body may change an array."""
    for node in everything(body, into_functions=True):
        if isinstance(node, bound.AssignProperty):
            return True
        if isinstance(node, bound.CallValue):
            function = facts.callee(node)
            if function is None or function.number not in effects.harmless:
                return True
        if isinstance(node, bound.CallGlobal) and not _is_harmless(node, effects):
            return True
    return False


def _is_harmless(call: bound.CallGlobal, effects: Effects) -> bool:
    is_print = call.name == "print" and call.name not in effects.host_names
    return is_print or effects.is_pure_library(call)


def _is_assigned(variable: bound.Variable, body: Any) -> bool:
    return any(
        isinstance(node, bound.AssignVariable) and node.variable is variable
        for node in everything(body, into_functions=True)
    )
