"""Finds the literals, arrays and objects that a program returns.

A result must be plain data of bounded size. Looking at all of it again when the program has ended
takes as long as building it, so the parts of these values are tested and counted when they are put
in, see :mod:`hoglet.hog.python.codegen.plain_values`.

Source: docs/spec/hog-language.md#4-values and docs/spec/hog-language.md#10-limits.
"""

from collections.abc import Iterator
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.appending import ArrayUses, appended_item
from hoglet.hog.python.analysis.borrowing import Borrowing
from hoglet.hog.python.analysis.library import formatted_arguments
from hoglet.hog.python.analysis.type_facts import TypeFacts

_MAX_PARTS: Final = 64
_DEEPEST: Final = 16


class Results:
    """The values that become part of a program's result.

    Attributes:
        variables: variables of the program itself whose parts are counted. Nothing changes their
            values but assignments to them, and these come before the value is stored elsewhere.
        calls: calls of ``arrayMap`` whose result is stored in such a value, by identity.

    Args:
        facts: type facts about the program.
        borrowing: which variables hold the host's own data.
        formatted: the variables that are only formatted, which are not counted.
        uses: how the functions use their variables.
        host_names: names of host functions, which hide library functions.
        enabled: whether anything is counted.
    """

    def __init__(
        self,
        facts: TypeFacts,
        borrowing: Borrowing,
        formatted: set[bound.Variable],
        uses: ArrayUses,
        host_names: frozenset[str],
        *,
        enabled: bool,
    ) -> None:
        self.variables: set[bound.Variable] = set()
        self.calls: set[int] = set()
        if not enabled:
            return
        nodes = facts.own[0]
        candidates = set[bound.Variable]()
        if borrowing.writes_own_only:
            candidates = uses.alone(0) - borrowing.variables
            candidates -= formatted
        for node in nodes:
            if isinstance(node, bound.Return):
                self._add(node.value, candidates)
            elif isinstance(node, bound.CallGlobal) and node.name not in host_names:
                for argument in formatted_arguments(node):
                    self._add(argument, candidates)
        stored, before = list(_stored(nodes)), -1
        while before != len(self.variables):
            before = len(self.variables)
            for variable, value, _ in stored:
                if variable in self.variables:
                    self._add(value, candidates)
        self._drop(facts, stored)

    def _drop(self, facts: TypeFacts, stored: "list[_Stored]") -> None:
        """Drop variables in which arrays or objects are stored that are not counted themselves."""
        before = -1
        while before != len(self.variables):
            before = len(self.variables)
            self.variables -= {
                variable
                for variable, value, is_part in stored
                if variable is not None and (is_part or is_small_literal(value))
                for part in parts_of(value)
                if self._is_uncounted(facts, part)
            }

    def _is_uncounted(self, facts: TypeFacts, part: Any) -> bool:
        if isinstance(part, bound.ReadVariable) and part.variable in self.variables:
            return False
        return id(part) not in self.calls and facts.kind(part) in {"L", "D"}

    def _add(self, value: Any, candidates: set[bound.Variable]) -> None:
        """Count the parts of a value that is returned or stored in a counted one."""
        for part in parts_of(value):
            if isinstance(part, bound.ReadVariable) and part.variable in candidates:
                self.variables.add(part.variable)
            elif isinstance(part, bound.CallGlobal) and part.name == "arrayMap":
                self.calls.add(id(part))


type _Stored = tuple[bound.Variable | None, Any, bool]
"""A variable, a value it is bound to or that is stored in its value, and whether the latter."""


def _stored(nodes: list[Any]) -> Iterator[_Stored]:
    for node in nodes:
        if isinstance(node, bound.Declare):
            yield node.variable, node.value, False
        elif isinstance(node, bound.AssignVariable):
            item = appended_item(node)
            yield node.variable, node.value if item is None else item, item is not None
        elif isinstance(node, bound.AssignProperty):
            target = node.target
            while isinstance(target, bound.GetProperty):
                target = target.target
            variable = target.variable if isinstance(target, bound.ReadVariable) else None
            yield variable, node.value, True


def parts_of(node: Any) -> Iterator[Any]:
    """The values in a literal and in the literals within it, in their order; else the node."""
    if isinstance(node, bound.MakeObject):
        for _, item in node.items:
            yield from parts_of(item)
    elif isinstance(node, bound.MakeArray):
        for item in node.items:
            yield from parts_of(item)
    else:
        yield node


def count_literals(node: Any) -> int:
    """The number of literals in a literal, itself included; 0 for other expressions."""
    if isinstance(node, bound.MakeObject):
        return 1 + sum(count_literals(item) for _, item in node.items)
    if isinstance(node, bound.MakeArray):
        return 1 + sum(map(count_literals, node.items))
    return 0


def is_small_literal(node: Any) -> bool:
    """Whether an expression is a literal with strings as keys, few parts and few levels."""
    if not isinstance(node, bound.MakeObject | bound.MakeArray):
        return False
    return _is_shallow(node, _DEEPEST) and sum(1 for _ in parts_of(node)) <= _MAX_PARTS


def _is_shallow(node: Any, deepest: int) -> bool:
    if isinstance(node, bound.MakeArray):
        return deepest > 0 and all(_is_shallow(item, deepest - 1) for item in node.items)
    if not isinstance(node, bound.MakeObject):
        return True
    keys = [key.value if isinstance(key, bound.Constant) else None for key, _ in node.items]
    if deepest == 0 or not all(type(key) is str for key in keys):
        return False
    return all(_is_shallow(item, deepest - 1) for _, item in node.items)
