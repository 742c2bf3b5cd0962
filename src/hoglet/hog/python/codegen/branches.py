"""Prints ``if``: what a condition reads and the branches read again is read once.

``if (event.properties.plan != null) { body.plan := event.properties.plan }`` reads the property
twice. Nothing changes the host's data during a run, and reading a field below a view never fails.
So such a read is bound to a name before the ``if``.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.visitor import everything, parts
from hoglet.hog.python.codegen.loops import LoopPrinter

_MAX_NODES: Final = 300
"""Nodes of an ``if`` that are searched, so that printing nested ones takes linear time."""


class BranchPrinter(LoopPrinter):
    """The printer of ``if``."""

    def print_if(self, node: bound.If) -> None:
        """Print a statement with its branches."""
        before = self.reads
        self.reads = before | self._repeated_reads(node)
        self._print_branches(node)
        self.reads = before

    def _print_branches(self, node: bound.If) -> None:
        self.line(f"if {self.test(node.condition)}:")
        self.body(node.then)
        otherwise = node.otherwise
        # `else if` stays flat: Python allows 100 levels of indentation, Hog as many branches
        while isinstance(otherwise, bound.If):
            mark = self.mark()
            test = self.test(otherwise.condition)
            if self.mark() > mark:
                self.take(mark)
                break
            self.line(f"elif {test}:")
            self.body(otherwise.then)
            otherwise = otherwise.otherwise
        if otherwise is not None:
            self.line("else:")
            self.body(otherwise)

    def body(self, node: Any) -> None:
        """Print an indented statement; never empty."""
        self.indent += 1
        mark = self.mark()
        self.statement(node)
        if self.mark() == mark:
            self.line("pass")
        self.indent -= 1

    def _repeated_reads(self, node: bound.If) -> dict[str, str]:
        """Bind what the condition reads and is read again to names; those, by the reads."""
        first = dict.fromkeys(filter(None, map(self.field_of_view, _evaluated(node.condition))))
        if not first:
            return {}
        nodes = islice(everything(node, into_functions=False), _MAX_NODES)
        counts = Counter(map(self.field_of_view, nodes))
        return self.bind_reads(text for text in first if counts[text] > 1)


def _evaluated(node: Any) -> Iterator[Any]:
    """The nodes of a condition that are certainly evaluated, outside of functions."""
    yield node
    match node:
        case bound.And() | bound.Or():
            below = list(node.operands[:1])
        case bound.Conditional():
            below = [node.condition]
        case bound.IfNull():
            below = [node.value]
        case _:
            below = [part for part in parts(node) if type(part) is not bound.BoundFunction]
    for part in below:
        yield from _evaluated(part)
