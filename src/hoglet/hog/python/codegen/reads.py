"""Reads fields of the host's data once that loops and branches read again.

Nothing changes the host's data during a run, and reading a field below a view never fails. So such
a read can be bound to a name before the statement, which then uses the name.
"""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.visitor import everything
from hoglet.hog.python.codegen.growth import GrowthPrinter

_MAX_READS: Final = 16
"""Reads that are bound before a loop, which may have no rounds."""

_MAX_NODES: Final = 1_000
"""Nodes of a loop that are searched."""


class ReadPrinter(GrowthPrinter):
    """The printer of reads that are bound to names.

    Attributes:
        in_loop: whether a loop is printed; what inner loops read was bound before the outermost.
    """

    in_loop: bool = False

    @contextmanager
    def loop_reads(self, node: Any) -> Generator[None]:
        """Print a loop with what it reads in each round bound before it."""
        if self.in_loop or self.program.trace:
            yield
            return
        before = self.reads
        rounds = node.body if isinstance(node, bound.ForIn) else node
        nodes = islice(everything(rounds, into_functions=False), _MAX_NODES)
        texts = dict.fromkeys(filter(None, map(self.field_below_global, nodes)))
        self.reads, self.in_loop = before | self.bind_reads(islice(texts, _MAX_READS)), True
        yield
        self.reads, self.in_loop = before, False

    def bind_reads(self, texts: Iterable[str]) -> dict[str, str]:
        """Bind reads to names; returns those, by the reads."""
        names: dict[str, str] = {}
        for text in texts:
            if text not in self.reads:
                names[text] = self.temporaries.new()
                self.line(f"{names[text]} = {text}")
        return names

    def field_below_global(self, node: Any) -> str | None:
        """The text that reads a field with a constant name below the view of a global, or None."""
        views = self.program.views
        if not isinstance(node, bound.GetProperty | bound.ReadGlobal):
            return None
        path = views.path_of(node)
        view, seen = (None, 0) if path is None else views.longest(path[:-1])
        if path is None or view is None or seen != len(path) - 1:
            return None
        return f"{view}.get({path[-1]!a})" if isinstance(path[-1], str) else None

    def field_of_view(self, node: Any) -> str | None:
        """The same below any view."""
        text = self.field_below_global(node)
        if text or not isinstance(node, bound.GetProperty):
            return text
        if not isinstance(node.key, bound.Constant):
            return None
        view = self.view_of(node.target)
        return f"{view}.get({node.key.value!a})" if view and type(node.key.value) is str else None
