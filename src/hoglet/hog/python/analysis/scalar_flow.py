"""Which variables only ever hold scalars, and which functions only return them?

:class:`TypeFacts` knows variables of one kind. ``let name := null`` that becomes a string later is
of no kind, but never an object either.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.type_facts import TypeFacts, declared_by

type _Holder = bound.Variable | int
"""A variable, or the number of a function whose results are meant."""


class ScalarFlow:
    """The scalar variables and functions of one program.

    All that is only bound to known values is taken for scalar until one of these is not; what gets
    its values from there is not scalar either.

    Args:
        facts: type facts about the program.
        is_scalar: whether an expression is scalar whatever its variables hold.
        nodes: all nodes of the program.
    """

    def __init__(
        self, facts: TypeFacts, is_scalar: Callable[[Any], bool], nodes: Sequence[Any]
    ) -> None:
        self._facts = facts
        self._is_scalar = is_scalar
        self._others = set[_Holder](self._bound_otherwise(nodes))
        self._readers = defaultdict[_Holder, list[_Holder]](list)
        self._bound = set[_Holder](facts.functions)
        for holder, value in self._values(nodes):
            self._bound.add(holder)
            self._bind(holder, value)
        waiting = list(self._others)
        while waiting:
            reached = [each for each in self._readers[waiting.pop()] if each not in self._others]
            self._others.update(reached)
            waiting += reached

    def holds_scalars(self, variable: bound.Variable) -> bool:
        """Whether a variable is only ever bound to scalars."""
        return variable in self._bound and variable not in self._others

    def returns_scalars(self, node: bound.CallValue) -> bool:
        """Whether a call reaches a known function that only returns scalars."""
        function = self._facts.callee(node)
        return function is not None and function.number not in self._others

    def _bind(self, holder: _Holder, value: Any) -> None:
        """Follow an expression to what its value depends on."""
        match value:
            case None | bound.Constant():
                return
            case bound.Conditional():
                self._bind(holder, value.then)
                self._bind(holder, value.otherwise)
            case bound.IfNull():
                self._bind(holder, value.value)
                self._bind(holder, value.fallback)
            case _ if self._is_scalar(value):
                return
            case bound.ReadVariable():
                self._readers[value.variable].append(holder)
            case bound.CallValue() if (function := self._facts.callee(value)) is not None:
                self._readers[function.number].append(holder)
            case _:
                self._others.add(holder)

    def _values(self, nodes: Sequence[Any]) -> Iterable[tuple[_Holder, Any]]:
        for number, own in self._facts.own.items():
            yield from ((number, node.value) for node in own if isinstance(node, bound.Return))
        direct = {function.number for function in self._facts.direct.values()}
        for node in nodes:
            if isinstance(node, bound.Declare | bound.AssignVariable):
                yield node.variable, node.value
            elif isinstance(node, bound.CallValue):
                function = self._facts.callee(node)
                if function is not None and function.number in direct:
                    given = [*node.arguments, *[None] * len(function.parameters)]
                    yield from zip(function.parameters, given, strict=False)

    def _bound_otherwise(self, nodes: Sequence[Any]) -> Iterable[bound.Variable]:
        """Variables with values that no expression shows: of loops, errors and callers."""
        for node in nodes:
            if isinstance(node, bound.ForIn | bound.Try | bound.DeclareFunction):
                yield from declared_by(node)
        direct = {function.number for function in self._facts.direct.values()}
        for number, function in self._facts.functions.items():
            if number not in direct:
                yield from function.parameters
