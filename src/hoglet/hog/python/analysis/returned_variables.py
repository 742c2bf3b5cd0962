"""Functions that return the object that one of their variables holds.

::

    fun mask(p) { p.email := '***'; return p }

A call of such a function is another name of what ``p`` holds, as if ``p`` were read there.
"""

from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.type_facts import TypeFacts


def returned_variables(facts: TypeFacts) -> dict[int, bound.ReadVariable]:
    """Reads of the variables that functions return, by the functions' numbers.

    The functions are only called by name, and return nothing else but constants. Their variables
    are parameters, or bound once to what is no literal.
    """
    returned: dict[int, bound.ReadVariable] = {}
    for function in facts.direct.values():
        read = _returned(function, facts.own[function.number])
        if read is not None:
            returned[function.number] = read
    return returned


def _returned(function: bound.BoundFunction, nodes: list[Any]) -> bound.ReadVariable | None:
    if len(function.body.statements) < 2:
        return None  # it is printed in place of its calls
    values = [node.value for node in nodes if isinstance(node, bound.Return)]
    others = [value for value in values if value and not isinstance(value, bound.Constant)]
    reads = [value for value in others if isinstance(value, bound.ReadVariable)]
    if not reads or len(reads) < len(others) or len({read.variable for read in reads}) > 1:
        return None
    variable = reads[0].variable
    is_bound_once = variable in function.parameters or any(
        isinstance(node, bound.Declare)
        and node.variable is variable
        and not isinstance(node.value, bound.MakeObject | bound.MakeArray)
        for node in nodes
    )
    return reads[0] if is_bound_once and not variable.assigned else None
