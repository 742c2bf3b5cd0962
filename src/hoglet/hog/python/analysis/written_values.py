"""Which values may a program write into its copy of the host's data?

The copy is exported as plain data, so these are scalars, new objects that nothing else refers to,
and parts of the host's data, which are copied where they are written or returned. Other objects
that the program made could be changed later.
"""

from collections.abc import Callable
from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.scalars import Scalars
from hoglet.hog.python.analysis.type_facts import TypeFacts
from hoglet.hog.python.analysis.unshared import Unshared


class WrittenValues:
    """The values that one program writes.

    Args:
        facts: type facts about the program.
        scalars: its scalar expressions.
        unshared: its values that nothing else refers to.
        is_raw: whether an expression reads the host's data and nothing else.
    """

    def __init__(
        self,
        facts: TypeFacts,
        scalars: Scalars,
        unshared: Unshared,
        is_raw: Callable[[Any], bool],
    ) -> None:
        self._facts = facts
        self._unshared = unshared
        self._scalars = scalars
        self._is_raw = is_raw

    def may_be_put(self, node: Any) -> bool:
        """Whether a value is a scalar, a new object, or an unshared copy of the host's data."""
        if isinstance(node, bound.Conditional):
            return self.may_be_put(node.then) and self.may_be_put(node.otherwise)
        if isinstance(node, bound.IfNull):
            return self.may_be_put(node.value) and self.may_be_put(node.fallback)
        if isinstance(node, bound.CallValue) and (function := self._facts.callee(node)) is not None:
            return self._may_be_returned(function) or self._scalars.is_certain(node)
        return self._unshared.is_new(node) or self._is_raw(node)

    def _may_be_returned(self, function: bound.BoundFunction) -> bool:
        """Whether all results of a function are such values; those of other functions are not."""
        return all(
            node.value is None or self._unshared.is_new(node.value) or self._is_raw(node.value)
            for node in self._facts.own[function.number]
            if isinstance(node, bound.Return)
        )
