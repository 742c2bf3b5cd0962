"""The values that variables are bound to, where all of them are known."""

from collections.abc import Sequence
from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.library import LAMBDA_PARAMETER, lambda_argument
from hoglet.hog.python.analysis.type_facts import TypeFacts


class Bindings:
    """The expressions bound by ``let``, ``:=``, ``for … in``, calls of functions and lambdas.

    Attributes:
        sources: the expressions bound to each variable.
        elements: the variables that are bound to the items of their expressions.

    Args:
        facts: type facts about the program.
        host_names: names of host functions, which hide library functions.
        nodes: all nodes of the program.
    """

    def __init__(self, facts: TypeFacts, host_names: frozenset[str], nodes: Sequence[Any]) -> None:
        self._facts = facts
        self._direct = {function.number for function in facts.direct.values()}
        self.sources: dict[bound.Variable, list[Any]] = {}
        self.elements: set[bound.Variable] = set()
        for node in nodes:
            if isinstance(node, bound.Declare):
                if node.value is not None and not node.early:
                    self._bind(node.variable, node.value)
            elif isinstance(node, bound.AssignVariable):
                self._bind(node.variable, node.value)
            elif isinstance(node, bound.ForIn):
                self._bind_element(node.value, node.collection)
            elif isinstance(node, bound.CallValue):
                self._bind_arguments(node)
            elif (function := lambda_argument(node, host_names)) is not None:
                index = LAMBDA_PARAMETER[node.name]
                if index < len(function.parameters):
                    self._bind_element(function.parameters[index], node.arguments[1])

    def _bind(self, variable: bound.Variable, value: Any) -> None:
        self.sources.setdefault(variable, []).append(value)

    def _bind_element(self, variable: bound.Variable, collection: Any) -> None:
        self._bind(variable, collection)
        self.elements.add(variable)

    def _bind_arguments(self, node: bound.CallValue) -> None:
        function = self._facts.callee(node)
        if function is None or function.number not in self._direct:
            return
        for index, parameter in enumerate(function.parameters):
            is_given = index < len(node.arguments)
            self._bind(parameter, node.arguments[index] if is_given else bound.Constant(value=None))


def walking(nodes: Sequence[Any]) -> set[bound.Variable]:
    """The assigned variables whose fields or items are read: ``current := current[part]``."""
    holders = [
        node.target if isinstance(node, bound.GetProperty) else node.collection
        for node in nodes
        if isinstance(node, bound.GetProperty | bound.ForIn)
    ]
    return {
        holder.variable
        for holder in holders
        if isinstance(holder, bound.ReadVariable)
        and holder.variable.assigned
        and not holder.variable.captured
    }
