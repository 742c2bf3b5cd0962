"""Emits the lines of a generated program."""

from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.program_analysis import ProgramAnalysis
from hoglet.hog.python.analysis.purity import Effects
from hoglet.hog.python.analysis.type_facts import TypeFacts
from hoglet.hog.python.analysis.views import Views
from hoglet.hog.python.codegen.operands import Temporaries

COMMON_IMPORTS: Final = "k0"


class Storage:
    """Assigns storage to variables.

    A variable is a Python local; one used by inner functions is a Python cell. Inside a loop each
    iteration needs a new cell: there an inner function is created by a factory, which takes the
    value (if it never changes) or a box, a list with one item.
    """

    def __init__(self, facts: TypeFacts) -> None:
        self._facts = facts
        self._names: dict[bound.Variable, str] = {}
        self._hoisted: dict[bound.Variable, str] = {}
        self._boxed = {
            variable
            for variable in facts.loops
            if variable.captured and (variable.assigned or variable in facts.recursive)
        }

    def hoist(self, functions: dict[bound.Variable, bound.BoundFunction]) -> None:
        """Let variables of hoisted functions have the names of the functions themselves."""
        self._hoisted = {v: f"f{function.number}" for v, function in functions.items()}

    def name(self, variable: bound.Variable) -> str:
        """The Python name of the variable, or of its box."""
        name = self._hoisted.get(variable)
        return name or self._names.setdefault(variable, f"v{len(self._names) + 1}")

    def is_boxed(self, variable: bound.Variable) -> bool:
        """Whether the variable lives in a box."""
        return variable in self._boxed

    def by_value(self, function: bound.BoundFunction) -> list[bound.Variable]:
        """Captured loop variables of the enclosing function: parameters of the factory."""
        return [
            variable
            for variable in function.captures
            if variable.function == function.parent and variable in self._facts.loops
        ]


class ProgramContext:
    """Shared state of the printers of a program's functions.

    Attributes:
        constants: values that are made once for all runs: their names by their texts.
        hoisted: lines of the functions that are made once for all runs.
        short_texts: names of the variables for which ``s1`` says whether ``v1`` is short ASCII.

    Args:
        analysis: what is known about the program.
        known_globals: roots of globals that always exist.
    """

    def __init__(self, analysis: ProgramAnalysis, known_globals: frozenset[str]) -> None:
        facts = analysis.facts
        self.functions, self.async_names = analysis.functions, analysis.async_names
        self.host_names = analysis.host_names
        self.trace, self.batch = analysis.trace, analysis.batch
        self.roots: dict[str, str] = {}
        self._blocks = 0
        self.constants: dict[str, str] = {}
        self.hoisted: list[Line] = []
        self.all = tuple(facts.functions.values())
        self.has_common_imports = False
        self._parameters = {v for function in self.all for v in function.parameters}
        self.facts = facts
        self.borrowing = borrowing = analysis.borrowing
        self.formatted, self.results = analysis.formatted, analysis.results
        self.appended, self.inlined = analysis.appended, analysis.inlined
        self.suspending, self.dynamic_async = analysis.suspending, analysis.dynamic_async
        self.effects = Effects(facts, host_names=self.host_names, known_globals=known_globals)
        self.views = Views(
            facts, borrowing, known_globals, analysis.loops, enabled=analysis.is_optimized
        )
        for path in self.views.paths:
            self.root_name(path[0])
        self.storage = Storage(facts)
        self.storage.hoist(analysis.hoisted)
        self.is_hoisted = {function.number for function in analysis.hoisted.values()}
        self.short_texts = {self.storage.name(variable) for variable in analysis.short_texts}

    def root_name(self, root: str) -> str:
        """The Python name of a global's root, which is read once at the start."""
        return self.roots.setdefault(root, f"g{len(self.roots) + 1}")

    def constant(self, text: str) -> str:
        """The Python name of a value that is made once for all runs."""
        return self.constants.setdefault(text, f"c{len(self.constants) + 1}")

    def imports_of(self, variable: bound.Variable) -> str:
        """The Python name of the imports of parts of a variable's value that are keys.

        Parameters, and variables of inner functions, share one dictionary: what they hold may be
        parts of the same copy.
        """
        if variable.captured or variable in self._parameters:
            self.has_common_imports = True
            return COMMON_IMPORTS
        return f"k{self.storage.name(variable)[1:]}"

    def block_name(self) -> str:
        """A name for a block that was outlined into a function."""
        self._blocks += 1
        return f"b{self._blocks}"


type SourceLine = int | tuple[int, int, int]
"""A Hog line; inside an inlined call that of the call, the function's number, and its line."""

type Line = tuple[int, str, SourceLine]
"""Indentation, text and Hog line of a Python line."""


class Emitter:
    """A stream of indented lines for a function.

    Attributes:
        indent: indentation of the next line.
        source_line: the Hog line of the statement being printed.
        blocks: loops and ``try`` around the next line, inside one Python function.
        frames: inlined functions around the next line.
    """

    program: ProgramContext
    facts: TypeFacts
    effects: Effects

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.indent = 0
        self.source_line: SourceLine = 0
        self.blocks = 0
        self.frames = 0
        self.temporaries = Temporaries()

    def line(self, text: str) -> None:
        """Emit a line."""
        self.lines.append((self.indent, text, self.source_line))

    def depth(self, calls: int = 0) -> str:
        """The call depth at the next line, or that of further calls."""
        frames = self.frames + calls
        return f"d + {frames}" if frames else "d"

    def mark(self) -> int:
        """The position of the next line."""
        return len(self.lines)

    def insert(self, position: int, text: str) -> None:
        """Emit a line at an earlier position."""
        self.lines.insert(position, (self.indent, text, self.source_line))

    def take(self, mark: int) -> list[Line]:
        """Remove and return the lines from ``mark`` on."""
        taken = self.lines[mark:]
        del self.lines[mark:]
        return taken

    def put(self, lines: list[Line]) -> None:
        """Emit lines that :meth:`take` has removed."""
        self.lines.extend(lines)

    # --- implemented by the subclasses that use each other

    def variable(self, variable: bound.Variable) -> str:
        """The Python text that reads or is assigned a variable."""
        raise NotImplementedError

    def function(self, function: bound.BoundFunction) -> str:
        """Emit a function and return the name it is bound to."""
        raise NotImplementedError

    def hoist(self, function: bound.BoundFunction) -> None:
        """Emit a function before the program."""
        raise NotImplementedError

    def noted(self, node: Any, name: str, text: str) -> str:
        """The text of a call, wrapped for traced runs."""
        raise NotImplementedError
