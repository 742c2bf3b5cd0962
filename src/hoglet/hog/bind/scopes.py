"""Scopes: resolve names to variables and their slots.

A :class:`FunctionScope` is a function being bound. Its live variables form a stack, like that of
the virtual machine: a variable's slot is its height. Scopes nest inside a frame; names are looked
up innermost first, then in enclosing frames, which captures the variable.

Source: docs/spec/hog-language.md#6-scopes-closures-calls and docs/spec/hog-language.md#12-bytecode.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager

from hoglet.hog.bind.tree import Variable
from hoglet.syntax.tree import Position


class FunctionScope:
    """A function being bound.

    Attributes:
        number: unique in the program, 0 for the root.
        parent: the enclosing function.
        variables: every variable declared so far, including dead ones.
        captures: variables of outer frames used here or further inside, in order of first use.
        has_return: the function contains a ``return``.
        calls: number of calls in this function, without inner functions.
    """

    def __init__(self, number: int, parent: "FunctionScope | None") -> None:
        self.number = number
        self.parent = parent
        self.variables: list[Variable] = []
        self.captures: dict[Variable, None] = {}
        self.has_return = False
        self.calls = 0
        self._live: list[Variable] = []
        self._starts: list[int] = [0]
        self._initialized: Variable | None = None

    def open_scope(self) -> None:
        """Open a scope; names declared from here on can shadow outer ones."""
        self._starts.append(len(self._live))

    def close_scope(self) -> tuple[Variable, ...]:
        """Close the scope. Returns its variables, last declared first."""
        start = self._starts.pop()
        ended = tuple(reversed(self._live[start:]))
        del self._live[start:]
        return ended

    def has_in_scope(self, name: str) -> bool:
        """Whether the innermost scope already declares ``name``."""
        scope = self._live[self._starts[-1] :]
        return any(variable.name == name and not variable.hidden for variable in scope)

    def declare(self, name: str, start: Position | None, *, hidden: bool = False) -> Variable:
        """Add a variable to the innermost scope; the caller rejects duplicates."""
        variable = Variable(
            name, slot=len(self._live), function=self.number, start=start, hidden=hidden
        )
        self._live.append(variable)
        self.variables.append(variable)
        return variable

    def height(self) -> int:
        """Number of live variables; pass it to :meth:`end_above`."""
        return len(self._live)

    def end_above(self, height: int) -> tuple[Variable, ...]:
        """End the variables above ``height`` without closing the scope, last declared first."""
        ended = tuple(reversed(self._live[height:]))
        del self._live[height:]
        return ended

    @contextmanager
    def initializing(self, variable: Variable) -> Generator[None]:
        """Bind the initializer of ``variable``, which only functions inside it can see."""
        self._initialized = variable
        try:
            yield
        finally:
            self._initialized = None

    def find(self, name: str, *, from_inside: bool) -> Variable | None:
        """The visible variable of that name; ``from_inside``: as seen by an inner function."""
        for variable in reversed(self._live):
            if variable.name != name or variable.hidden:
                continue
            if from_inside or variable is not self._initialized:
                return variable
        return None

    def names(self) -> Iterator[str]:
        """The readable names, without hidden ones."""
        frame: FunctionScope | None = self
        while frame is not None:
            yield from frame._own_names()  # noqa: SLF001 (same class)
            frame = frame.parent

    def _own_names(self) -> Iterator[str]:
        return (variable.name for variable in self._live if not variable.hidden)


class Scopes:
    """The frames of a program, and the current one."""

    def __init__(self) -> None:
        self.frame = FunctionScope(0, None)
        self._count = 1

    @contextmanager
    def function(self) -> Generator[FunctionScope]:
        """Bind a function inside the current one."""
        outer = self.frame
        self.frame = FunctionScope(self._count, outer)
        self._count += 1
        try:
            yield self.frame
        finally:
            self.frame = outer

    def resolve(self, name: str) -> tuple[Variable, bool] | None:
        """The variable of a name, and whether an outer function declared it."""
        passed: list[FunctionScope] = []
        frame: FunctionScope | None = self.frame
        while frame is not None:
            variable = frame.find(name, from_inside=bool(passed))
            if variable is not None:
                _capture(variable, passed)
                return variable, bool(passed)
            passed.append(frame)
            frame = frame.parent
        return None


def _capture(variable: Variable, passed: list[FunctionScope]) -> None:
    for frame in passed:
        variable.captured = True
        frame.captures[variable] = None
