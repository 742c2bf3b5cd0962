"""Finds calls of small functions that are printed in place of the call.

A call of a function that is one expression costs as much as two operators, and the function itself,
which is made anew in each run, three. Only functions that call no other function of the program are
inlined, so nothing recursive is.
"""

from collections import Counter
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.type_facts import TypeFacts
from hoglet.hog.python.analysis.visitor import parts
from hoglet.hog.stdlib.table import STL

_MAX_NODES: Final = 40
_DEEPEST: Final = 8
"""Statements and branches around a call; Python allows 20 nested blocks and 100 indentations."""

_MAX_INLINED: Final = 4_000
"""Nodes of all inlined calls: more take longer to compile than they save in a run."""

_NESTING: Final = (
    bound.If, bound.While, bound.For, bound.ForIn, bound.Try, bound.Catch, bound.BoundFunction,
    bound.Conditional, bound.IfNull, bound.And, bound.Or,
)  # fmt: skip


class InlinedCalls:
    """The calls that are inlined.

    Attributes:
        calls: those calls, by identity.
        functions: numbers of the functions all of whose calls are inlined.

    Args:
        facts: type facts about the program.
        host_names: names of host functions, which hide library functions.
        enabled: whether any are looked for.
    """

    def __init__(self, facts: TypeFacts, host_names: frozenset[str], *, enabled: bool) -> None:
        self.calls: set[int] = set()
        self.functions: set[int] = set()
        self._own = facts.own
        self._room = _MAX_INLINED
        if not enabled:
            return
        small = {
            node.variable: node.function
            for nodes in facts.own.values()
            for node in nodes
            if isinstance(node, bound.DeclareFunction) and node.variable in facts.direct
            if _is_small(node.function, facts, host_names)
        }
        if not small:
            return
        calls = Counter[int]()
        self._walk(facts.functions[0].body, 0, small, calls)
        self.functions = {f.number for f in small.values() if not calls[f.number]}

    def _walk(
        self,
        node: Any,
        depth: int,
        small: dict[bound.Variable, bound.BoundFunction],
        left: Counter[int],
    ) -> None:
        """Collect the calls below a node; ``left`` counts those that cannot be inlined."""
        if isinstance(node, bound.CallValue) and isinstance(node.callee, bound.ReadVariable):
            function = small.get(node.callee.variable)
            if function is not None:
                if depth <= _DEEPEST and self._fits(node, function):
                    self.calls.add(id(node))
                    self._room -= len(self._own[function.number])
                else:
                    left[function.number] += 1
        below = depth + isinstance(node, _NESTING)
        for part in parts(node):
            self._walk(part, below, small, left)

    def _fits(self, call: bound.CallValue, function: bound.BoundFunction) -> bool:
        """Whether a call has no surplus arguments and the program does not grow too much by it."""
        has_surplus = len(call.arguments) > len(function.parameters)
        return not has_surplus and len(self._own[function.number]) <= self._room


def _is_small(function: bound.BoundFunction, facts: TypeFacts, host_names: frozenset[str]) -> bool:
    """Whether a function is one small expression without further calls of functions."""
    statements = function.body.statements
    if len(statements) != 1 or not isinstance(statements[0], bound.Return):
        return False
    if any(variable in facts.loops for variable in function.captures):
        return False
    nodes = facts.own[function.number]
    return (
        statements[0].value is not None
        and len(nodes) <= _MAX_NODES
        and not any(parameter.captured for parameter in function.parameters)
        and not any(_is_call(node, host_names) for node in nodes)
    )


def _is_call(node: Any, host_names: frozenset[str]) -> bool:
    """Whether an expression may call a function of the program or the host, or is one."""
    if isinstance(node, bound.CallGlobal):
        entry = STL.get(node.name)
        return entry is None or entry.form == "callback" or node.name in host_names
    return isinstance(node, bound.CallValue | bound.MakeFunction)
