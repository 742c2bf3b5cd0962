"""The values that variables are bound to, where all of them are known."""

from collections.abc import Sequence
from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.library import LAMBDA_PARAMETER, lambda_argument
from hoglet.hog.python.analysis.returned_variables import returned_variables
from hoglet.hog.python.analysis.type_facts import TypeFacts


class Bindings:
    """The expressions bound by ``let``, ``:=``, ``for … in``, calls of functions and lambdas.

    Attributes:
        sources: the expressions bound to each variable.
        elements: the variables that are bound to the items of their expressions.
        returns: the ``return`` statements by which a call is another name of a variable's value,
            by identity.

    Args:
        facts: type facts about the program.
        host_names: names of host functions, which hide library functions.
        nodes: all nodes of the program.
    """

    def __init__(self, facts: TypeFacts, host_names: frozenset[str], nodes: Sequence[Any]) -> None:
        self._facts = facts
        self._direct = {function.number for function in facts.direct.values()}
        self._returned = returned_variables(facts)
        self.sources: dict[bound.Variable, list[Any]] = {}
        self.elements: set[bound.Variable] = set()
        self.returns = {
            id(node)
            for number in self._returned
            for node in facts.own[number]
            if isinstance(node, bound.Return) and isinstance(node.value, bound.ReadVariable)
        }
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

    def returned(self, node: Any) -> bound.ReadVariable | None:
        """A read of the variable whose value a call returns; None for other expressions."""
        function = self._facts.callee(node) if isinstance(node, bound.CallValue) else None
        return None if function is None else self._returned.get(function.number)

    def returned_argument(self, node: Any) -> Any:
        """The argument that a call returns; None for other expressions."""
        read = self.returned(node)
        function = None if read is None else self._facts.callee(node)
        if read is None or function is None or read.variable not in function.parameters:
            return None
        index = function.parameters.index(read.variable)
        return node.arguments[index] if index < len(node.arguments) else None

    def parameters_with_globals(self) -> dict[bound.Variable, bound.ReadGlobal]:
        """Parameters for which all calls pass globals, so that each call has a copy of its own."""
        parameters = {v for function in self._facts.direct.values() for v in function.parameters}
        return {
            variable: sources[0]
            for variable, sources in self.sources.items()
            if variable in parameters and not variable.assigned and all(map(_is_global, sources))
        }

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


def _is_global(node: Any) -> bool:
    return isinstance(node, bound.ReadGlobal) and not node.library


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
