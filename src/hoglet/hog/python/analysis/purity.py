"""Purity analysis: may an expression be reordered or skipped?

``STABLE``: has the same value at any time. ``READS``: depends on values that a call may change, or
may raise an error. ``EFFECTS``: may have side effects.

Source: docs/spec/hog-language.md#5-semantics-of-operators (order of evaluation; operands that may
be skipped).
"""

from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.call_graph import callers_by_callee, with_callers
from hoglet.hog.python.analysis.type_facts import TypeFacts
from hoglet.hog.python.analysis.visitor import parts
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.regex import compile_pattern
from hoglet.hog.stdlib.table import STL

STABLE: Final = 0
READS: Final = 1
EFFECTS: Final = 2


class Effects:
    """The purity of expressions of a program.

    Args:
        facts: type facts about the program.
        host_names: names of host functions, which hide library functions.
        known_globals: roots of globals that always exist, so that reading them cannot fail.
    """

    def __init__(
        self, facts: TypeFacts, *, host_names: frozenset[str], known_globals: frozenset[str]
    ) -> None:
        self.facts = facts
        self.host_names = host_names
        self.known_globals = known_globals
        self.harmless = self._harmless_functions()
        self._levels: dict[int, int] = {}
        self._skippable: dict[int, bool] = {}

    def _harmless_functions(self) -> set[int]:
        """Functions whose calls have no effects and raise no errors."""
        harmful = {
            number for number, nodes in self.facts.own.items() if any(map(self._is_harmful, nodes))
        }
        return self.facts.functions.keys() - with_callers(harmful, callers_by_callee(self.facts))

    def _is_harmful(self, node: Any) -> bool:
        """Whether a node has effects or may raise errors, apart from calls of known functions."""
        match node:
            case bound.AssignProperty() | bound.Throw() | bound.Try():
                return True
            case bound.AssignVariable():
                return node.outer or node.variable.captured
            case bound.CallGlobal():
                return not self.is_pure_library(node)
            case bound.CallValue():
                return self.facts.callee(node) is None
            case _:
                return False

    def is_pure_library(self, node: bound.CallGlobal) -> bool:
        """A call of a library function without effects."""
        entry = STL.get(node.name)
        if entry is None or node.name in self.host_names or not entry.pure:
            return False
        return entry.arity_fault(len(node.arguments)) is None

    def level(self, node: Any) -> int:
        """STABLE, READS or EFFECTS."""
        known = self._levels.get(id(node))
        if known is None:
            known = self._levels[id(node)] = self._level(node)
        return known

    def _level(self, node: Any) -> int:
        match node:
            case bound.ReadVariable():
                own = READS if node.variable.captured and node.variable.assigned else STABLE
            case bound.MakeFunction():
                return STABLE
            case bound.ReadGlobal() | bound.GetProperty() | bound.SqlNode():
                own = READS
            case bound.CallGlobal():
                own = READS if self.is_pure_library(node) else EFFECTS
            case bound.CallValue():
                callee = self.facts.callee(node)
                harmless = callee is not None and callee.number in self.harmless
                own = READS if harmless else EFFECTS
            case _:
                own = STABLE
        for part in parts(node):
            own = max(own, self.level(part))
        return own

    def may_skip(self, node: Any) -> bool:
        """Whether skipping the expression is unobservable: no effect, no error."""
        known = self._skippable.get(id(node))
        if known is None:
            known = self._skippable[id(node)] = self._may_skip(node)
        return known

    def _may_skip(self, node: Any) -> bool:  # noqa: C901, PLR0911 (one case a node)
        match node:
            case bound.ReadGlobal():
                return node.path[0] in self.known_globals
            case bound.GetProperty():
                if not isinstance(node.key, bound.Constant) or node.key.value == 0:
                    return False
            case bound.CallGlobal():
                entry = STL.get(node.name)
                if entry is None or not entry.total or not self.is_pure_library(node):
                    return False
            case bound.Compare():
                listed = isinstance(node.right, bound.MakeArray | bound.MakeTuple)
                if node.operator in {"in", "not in"} and not listed:
                    return False
                if "~" in node.operator and not _is_valid_pattern(node.right):
                    return False
            case bound.CallValue() | bound.SqlNode():
                return False
            case bound.MakeFunction():
                return True
            case _:
                pass
        return all(self.may_skip(part) for part in parts(node))


def _is_valid_pattern(node: Any) -> bool:
    if not isinstance(node, bound.Constant) or type(node.value) is not str:
        return False
    try:
        compile_pattern(node.value, False)
    except EngineError:
        return False
    return True
