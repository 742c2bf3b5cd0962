"""How often may the statements of a program be executed in a run?"""

from collections import defaultdict
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.type_facts import TypeFacts

MANY: Final = 1_000_000

_MAX_CALLERS: Final = 16
"""Functions, one calling the other, through which calls are counted."""


class Executions:
    """Upper bounds for one program.

    Args:
        facts: type facts about the program.
        loops: the loop around each node and variable, see ``loops_around``.
    """

    def __init__(self, facts: TypeFacts, loops: dict[int, Any]) -> None:
        self._loops = loops
        self._direct = {function.number for function in facts.direct.values()}
        self._calls = defaultdict[int, list[bound.CallValue]](list)
        self._known = {0: 1}
        for nodes in facts.own.values():
            for node in nodes:
                function = facts.callee(node) if isinstance(node, bound.CallValue) else None
                if function is not None:
                    self._calls[function.number].append(node)

    def most(self, node: Any, callers: int = _MAX_CALLERS) -> int:
        """How often a node may be executed; ``MANY`` in loops and in recursive functions."""
        around = self._loops.get(id(node))
        if not isinstance(around, bound.BoundFunction):
            return MANY
        return self._runs(around.number, callers)

    def _runs(self, function: int, callers: int) -> int:
        if function not in self._known:
            self._known[function] = MANY  # for a function that calls itself
            if function in self._direct and callers > 0:
                runs = sum(self.most(call, callers - 1) for call in self._calls[function])
                self._known[function] = min(runs, MANY)
        return self._known[function]
