"""Finds literals with host data in them that are only formatted: printed, or written as JSON.

Nothing can change such a value or compare its parts, so the host data in it need not be imported
if the text is the same without, see :meth:`CallPrinter.formatted`.
"""

from collections import Counter
from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.borrowing import Borrowing
from hoglet.hog.python.analysis.library import formatted_arguments
from hoglet.hog.python.analysis.results import is_small_literal, parts_of
from hoglet.hog.python.analysis.type_facts import TypeFacts


class Formatted:
    """The literals that are only formatted.

    Attributes:
        literals: those that are arguments, by identity.
        variables: those that are bound to a literal with host data in it once and read only as
            arguments.

    Args:
        facts: type facts about the program.
        borrowing: which expressions read the host's own data.
        host_names: names of host functions, which hide library functions.
        enabled: whether any are looked for.
    """

    def __init__(
        self, facts: TypeFacts, borrowing: Borrowing, host_names: frozenset[str], *, enabled: bool
    ) -> None:
        self.literals: set[int] = set()
        self.variables: set[bound.Variable] = set()
        if not enabled:
            return
        self._borrowing = borrowing
        for nodes in facts.own.values():
            arguments = [
                argument
                for node in nodes
                if isinstance(node, bound.CallGlobal) and node.name not in host_names
                for argument in formatted_arguments(node)
            ]
            self.literals.update(id(node) for node in arguments if is_small_literal(node))
            self.variables |= self._only_read_by(arguments, nodes)

    def _only_read_by(self, arguments: list[Any], nodes: list[Any]) -> set[bound.Variable]:
        """The variables with such literals of which all reads are among the arguments."""
        reads = Counter(node.variable for node in nodes if isinstance(node, bound.ReadVariable))
        formatted = Counter(
            node.variable for node in arguments if isinstance(node, bound.ReadVariable)
        )
        return {
            node.variable
            for node in nodes
            if isinstance(node, bound.Declare) and not node.early
            if not node.variable.assigned and not node.variable.captured
            if reads[node.variable] == formatted[node.variable] > 0
            if self._has_host_data(node.value)
        }

    def _has_host_data(self, node: Any) -> bool:
        return is_small_literal(node) and any(map(self._borrowing.is_raw, parts_of(node)))
