"""The lines of a generated program, each with the source line it came from."""

from typing import TYPE_CHECKING, Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.operands import Temporaries

if TYPE_CHECKING:
    from hoglet.hog.python.printer import ProgramPrinter
    from hoglet.hog.python.purity import Effects
    from hoglet.hog.python.type_facts import TypeFacts


class Emitter:
    """A stream of indented lines for one function.

    Attributes:
        indent: how deep the next line stands.
        source_line: the Hog line of the statement being printed.
        blocks: loops and ``try`` around the next line, inside one Python function.
    """

    program: "ProgramPrinter"
    facts: "TypeFacts"
    effects: "Effects"

    def __init__(self) -> None:
        self.lines: list[tuple[int, str, int]] = []
        self.indent = 0
        self.source_line = 0
        self.blocks = 0
        self.temporaries = Temporaries()

    def line(self, text: str) -> None:
        """Write a line here."""
        self.lines.append((self.indent, text, self.source_line))

    def mark(self) -> int:
        """The place of the next line."""
        return len(self.lines)

    def insert(self, place: int, text: str) -> None:
        """Write a line at an earlier place."""
        self.lines.insert(place, (self.indent, text, self.source_line))

    def take(self, mark: int) -> list[tuple[int, str, int]]:
        """Remove and return the lines from ``mark`` on."""
        taken = self.lines[mark:]
        del self.lines[mark:]
        return taken

    def put(self, lines: list[tuple[int, str, int]]) -> None:
        """Write lines taken before."""
        self.lines.extend(lines)

    # --- what the parts below and above offer each other

    def variable(self, variable: bound.Variable) -> str:
        """The Python text that reads or is assigned a variable."""
        raise NotImplementedError

    def function(self, function: bound.BoundFunction) -> str:
        """Write a function here and return the name it is bound to."""
        raise NotImplementedError

    def noted(self, node: Any, name: str, text: str) -> str:
        """The text of a call, wrapped for traced runs."""
        raise NotImplementedError
