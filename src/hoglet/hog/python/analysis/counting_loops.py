"""Finds ``for`` loops that count to a limit that does not change.

``for (let i := 1; i <= length(text); i := i + 1)`` is a loop over a range if the body neither
assigns ``i`` nor changes what ``length(text)`` is.
"""

from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.loop_shapes import LoopShape, is_assigned, loop_shape
from hoglet.hog.python.analysis.purity import Effects
from hoglet.hog.python.analysis.type_facts import SMALL_LITERAL, TypeFacts
from hoglet.hog.python.analysis.visitor import everything

_COUNTS: Final = frozenset("ZC")


def counting_loop(node: bound.For, facts: TypeFacts, effects: Effects) -> LoopShape | None:
    """The shape of a loop that can be one over a range; None for other loops."""
    shape = loop_shape(node)
    if shape is None or facts.variables.get(shape.variable) not in _COUNTS:
        return None
    if not _is_fixed(shape.limit, node.body, facts, effects):
        return None
    if _is_count(shape.start, facts):
        is_known = _is_count(shape.limit, facts) or _is_half(shape.limit)
        return shape if is_known or _starts_from_zero(shape) else None
    is_length = shape.variable in facts.counted_down and isinstance(shape.limit, bound.Constant)
    return shape if is_length else None


def _starts_from_zero(shape: LoopShape) -> bool:
    """Whether the numbers begin at 0 or above, so that a loop up to null, as to -1, has none."""
    first = shape.start.value if isinstance(shape.start, bound.Constant) else None
    return shape.step > 0 and type(first) is int and first >= 0


def _is_count(node: Any, facts: TypeFacts) -> bool:
    """Whether an expression is an integer."""
    if isinstance(node, bound.Arithmetic):
        is_sum = node.operator in {"+", "-"}
        return is_sum and _is_count(node.left, facts) and _is_count(node.right, facts)
    return facts.kind(node) in _COUNTS


def _is_half(node: Any) -> bool:
    return isinstance(node, bound.Arithmetic) and node.operator == "/"


def _is_fixed(limit: Any, body: Any, facts: TypeFacts, effects: Effects) -> bool:
    """Whether a limit is a number, or the length of a value, that the loop does not change."""
    match limit:
        case bound.Constant(value=value):
            return type(value) is int and abs(value) < SMALL_LITERAL
        case bound.ReadVariable(variable=variable):
            is_number = _is_count(limit, facts) or variable in facts.lengths
            return is_number and not _may_change(variable, body)
        case bound.Arithmetic():
            return _is_fixed_sum(limit, facts) and all(
                _is_fixed(part, body, facts, effects) for part in (limit.left, limit.right)
            )
        case bound.CallGlobal(name="length", arguments=(bound.ReadVariable(variable=variable),)):
            if _may_change(variable, body) or not effects.is_pure_library(limit):
                return False
            is_text = facts.variables.get(variable) == "S"
            return is_text or not _changes_objects(body, facts, effects)
        case _:
            return False


def _is_fixed_sum(limit: bound.Arithmetic, facts: TypeFacts) -> bool:
    """Whether an expression is a sum or difference of integers, or a part of one."""
    if limit.operator == "/":
        divisor = limit.right.value if isinstance(limit.right, bound.Constant) else None
        return type(divisor) is int and divisor > 0 and _is_count(limit.left, facts)
    return _is_count(limit, facts)


def _may_change(variable: bound.Variable, body: Any) -> bool:
    """Whether a loop's body may assign a variable."""
    return variable.assigned and (variable.captured or is_assigned(variable, body))


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
