"""The shape of ``for`` loops with a counter: ``for (let i := 1; i <= n; i := i + 1)``."""

from typing import Any, NamedTuple

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.visitor import everything


class LoopShape(NamedTuple):
    """A loop whose counter only its head changes.

    Attributes:
        variable: the counter.
        start: the expression of its first value.
        operator: what compares it with the limit; ``<`` or ``<=`` if it counts up.
        limit: an expression.
        step: what is added after each round; negative if it counts down.
    """

    variable: bound.Variable
    start: Any
    operator: str
    limit: Any
    step: int


def loop_shape(node: bound.For) -> LoopShape | None:
    """The shape of a loop; None if it has no such counter."""
    match node:
        case bound.For(
            initializer=bound.Declare(variable=variable, value=start),
            condition=bound.Compare(
                operator="<" | "<=" | ">" | ">=" as operator,
                left=bound.ReadVariable(variable=compared),
                right=limit,
            ),
            step=bound.AssignVariable(
                variable=changed,
                value=bound.Arithmetic(
                    operator="+" | "-" as sign,
                    left=bound.ReadVariable(variable=added_to),
                    right=bound.Constant(value=int(step)),
                ),
            ),
        ):
            pass
        case _:
            return None
    if not variable is compared is changed is added_to or variable.captured or start is None:
        return None
    if isinstance(step, bool) or step <= 0 or (sign == "+") != (operator in {"<", "<="}):
        return None
    if is_assigned(variable, node.body):
        return None
    return LoopShape(variable, start, operator, limit, step if sign == "+" else -step)


def is_assigned(variable: bound.Variable, body: Any) -> bool:
    """Whether a statement assigns a variable, also in functions that it makes."""
    return any(
        isinstance(node, bound.AssignVariable) and node.variable is variable
        for node in everything(body, into_functions=True)
    )
