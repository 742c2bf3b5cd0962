"""Finds variables whose text is searched or cut several times.

Library calls become string methods for short ASCII strings, see
:mod:`hoglet.hog.python.codegen.text_calls`. For such a variable that is tested once, where it is
bound, instead of at each call.
"""

from collections import Counter
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.type_facts import TypeFacts

_SUBJECT: Final = {
    "length": 0, "substring": 0, "position": 0, "replaceAll": 0, "replaceOne": 0, "lower": 0,
    "upper": 0, "splitByString": 1,
}  # fmt: skip
"""The argument of such a call that is the text."""

_IN_LOOP: Final = 3
_ENOUGH: Final = 3


def short_texts(
    facts: TypeFacts, loops: dict[int, Any], host_names: frozenset[str]
) -> set[bound.Variable]:
    """The variables that are tested once.

    Args:
        facts: type facts about the program.
        loops: the loop around each node and variable, see ``loops_around``.
        host_names: names of host functions, which hide library functions.
    """
    uses = Counter[bound.Variable]()
    for nodes in facts.own.values():
        for node in nodes:
            if type(node) is bound.CallGlobal and node.name not in host_names:
                index = _SUBJECT.get(node.name, len(node.arguments))
                subject = node.arguments[index] if index < len(node.arguments) else None
                if type(subject) is bound.ReadVariable:
                    variable = subject.variable
                    is_repeated = loops.get(id(node)) is not loops.get(id(variable))
                    uses[variable] += _IN_LOOP if is_repeated else 1
    often = {variable for variable, count in uses.items() if count >= _ENOUGH}
    return often & _bound_once(facts) if often else often


def _bound_once(facts: TypeFacts) -> set[bound.Variable]:
    """Variables that are tested where they are bound, and not bound again."""
    variables = [
        variable
        for function in facts.functions.values()
        if not function.is_lambda
        for variable in function.parameters
    ]
    for nodes in facts.own.values():
        for node in nodes:
            if isinstance(node, bound.Declare) and not (node.early or node.recursive):
                variables.append(node.variable)
            elif isinstance(node, bound.ForIn):
                variables.append(node.value)
    return {
        variable
        for variable in variables
        if not (variable.assigned or variable.captured)
        if facts.variables.get(variable) in {"A", "S"}
    }
