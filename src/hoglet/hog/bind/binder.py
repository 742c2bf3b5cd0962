"""The binder: the shared state of binding functions, and the dispatch by node type.

The functions are in ``expressions``, ``statements`` and ``sql``; they call each other (a lambda
contains statements) through this class.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.bind.diagnostics import Diagnostics, suggestion
from hoglet.hog.bind.foreign_names import hint_for_name
from hoglet.hog.bind.scopes import FunctionScope, Scopes
from hoglet.syntax import tree

_KEYWORDS = ("catch", "else", "false", "finally", "let", "null", "return", "throw", "true", "try",
             "while")  # fmt: skip
"""Keywords that parse as names when misspelt."""
_JUMPS = {
    "break": "Hog has no `break`: put the condition into the head of the loop, or move the loop "
    "into a function and use `return`",
    "continue": "Hog has no `continue`: put the rest of the loop's body into an `if`",
}
"""Statements of other languages; in Hog they are ordinary names, so the run would fail."""

_MAX_COMPARED = 20_000
"""Names that unknown names of a text are compared with: half a second of work."""

type Bind = Callable[["Binder", Any], Any]


class Binder:
    """The state of one compilation.

    Args:
        expressions: binding function by type of expression.
        statements: binding function by type of statement.
        library: names of the standard library.
        known_globals: names provided by the host, as values or functions.
    """

    def __init__(
        self,
        *,
        expressions: Mapping[type, Bind],
        statements: Mapping[type, Bind],
        library: Collection[str],
        known_globals: Collection[str],
    ) -> None:
        self.scopes = Scopes()
        self.diagnostics = Diagnostics()
        self.library = library
        self.known_globals = known_globals
        self.functions: list[bound.BoundFunction] = []
        self.global_reads: set[str] = set()
        self.global_calls: set[str] = set()
        self._expressions = expressions
        self._statements = statements
        self._compared = 0

    def expression(self, node: tree.Expression) -> bound.Expression:
        """Bind one expression."""
        return self._expressions[type(node)](self, node)

    def expressions(self, nodes: tuple[tree.Expression, ...]) -> tuple[bound.Expression, ...]:
        """Bind expressions in source order."""
        return tuple([self.expression(node) for node in nodes])

    def statement(self, node: Any) -> bound.Statement:
        """Bind one statement."""
        return self._statements[type(node)](self, node)

    def refuse(self, node: tree.Node, message: str, *, hint: str | None = None) -> bound.Constant:
        """Record an error at ``node`` and continue with a null in its place."""
        self.diagnostics.error(message, node.start, node.end, hint=hint)
        return bound.Constant(value=None)

    def declare(self, name: str, node: tree.Node) -> bound.Variable:
        """Declare ``name`` in the innermost scope; a duplicate is an error at ``node``."""
        frame = self.scopes.frame
        if frame.has_in_scope(name):
            self.refuse(node, f"Variable `{name}` already declared in this scope")
        return frame.declare(name, node.start)

    def read_global(self, node: tree.Node, path: tuple[str | int, ...]) -> bound.ReadGlobal:
        """A name that no scope declares; warns if neither host nor library has it."""
        root = str(path[0])
        library = root in self.library and len(path) == 1
        self.global_reads.add(root)
        if not library and root not in self.known_globals:
            message = _JUMPS.get(root, f"Unknown global `{root}`")
            self._warn_unknown(node, root, message, _KEYWORDS)
        return bound.ReadGlobal(path=path, library=library, start=node.start, end=node.end)

    def call_global(
        self, node: tree.Node, name: str, arguments: tuple[bound.Expression, ...]
    ) -> bound.CallGlobal:
        """A call of a name that no scope declares; warns if neither host nor library has it."""
        library = name in self.library
        self.global_calls.add(name)
        self.scopes.frame.calls += 1
        if not library and name not in self.known_globals:
            self._warn_unknown(node, name, f"Unknown function `{name}`")
        return bound.CallGlobal(
            name=name, arguments=arguments, library=library, start=node.start, end=node.end
        )

    def add_function(self, function: bound.BoundFunction) -> None:
        """Add a bound function to the program's list."""
        self.functions.append(function)

    def nearest(self, name: str, *, variables_only: bool = False) -> str | None:
        """A suggestion of a similar name for an unknown one."""
        candidates = set(self.scopes.frame.names())
        if not variables_only:
            candidates.update(self.library, self.known_globals)
        self._compared += len(candidates)
        return suggestion(name, candidates) if self._compared <= _MAX_COMPARED else None

    def _warn_unknown(
        self, node: tree.Node, name: str, message: str, keywords: Iterable[str] = ()
    ) -> None:
        hint = hint_for_name(node, name) or self.nearest(name) or suggestion(name, keywords)
        self.diagnostics.warning(message, node.start, node.end, hint=hint)


def finish_function(
    frame: FunctionScope, node: tree.Node, *, name: str, body: bound.Block, parameters: int
) -> bound.BoundFunction:
    """The bound function of a completed frame; ``parameters`` is their count."""
    return bound.BoundFunction(
        name=name,
        number=frame.number,
        parent=frame.parent.number if frame.parent else None,
        parameters=tuple(frame.variables[:parameters]),
        body=body,
        captures=tuple(frame.captures),
        variables=tuple(frame.variables),
        has_return=frame.has_return,
        is_lambda=isinstance(node, tree.Lambda),
        start=node.start,
        end=node.end,
    )
