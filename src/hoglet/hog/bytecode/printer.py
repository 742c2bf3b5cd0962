"""Prints operations: jumps, scopes of variables, and the values that functions capture."""

from collections.abc import Callable
from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.opcodes import Operation

type Bytecode = list[Any]
type Handlers = dict[type, Callable[[BytecodePrinter, Any], None]]
"""Functions that print the nodes of a type."""


class BytecodePrinter:
    """Prints one function; inner functions get a printer of their own.

    Args:
        handlers: what prints the nodes of each type.
        function: number of the function.
        parent: printer of the function around it.
    """

    def __init__(
        self, handlers: "Handlers", function: int, parent: "BytecodePrinter | None" = None
    ) -> None:
        self._handlers = handlers
        self.cells: Bytecode = []
        self.upvalues: dict[bound.Variable, tuple[bool, int]] = {}
        self._indexes: dict[bound.Variable, int] = {}
        self._function = function
        self._parent = parent

    def expression(self, node: bound.Expression) -> None:
        """Print code that pushes the value of ``node``."""
        self._handlers[type(node)](self, node)

    def statement(self, node: bound.Statement) -> None:
        """Print code that leaves the stack unchanged except for declared variables."""
        self._handlers[type(node)](self, node)

    def block(self, node: bound.Block) -> None:
        """Print statements and the end of their scope."""
        for statement in node.statements:
            self.statement(statement)
        self.end(node.ends)

    def emit(self, operation: Operation, *operands: Any) -> None:
        """Append one operation."""
        self.cells.append(int(operation))
        self.cells.extend(operands)

    def jump(self, operation: Operation) -> int:
        """Append a jump that :meth:`land` completes."""
        self.emit(operation, 0)
        return len(self.cells)

    def land(self, jump: int) -> None:
        """Set the target of a jump to the next operation."""
        self.cells[jump - 1] = len(self.cells) - jump

    def jump_back(self, target: int) -> None:
        """Append a jump back to ``target``."""
        self.emit(Operation.JUMP, target - len(self.cells) - 2)

    def end(self, variables: tuple[bound.Variable, ...]) -> None:
        """Drop the variables of a scope."""
        for variable in variables:
            self.emit(Operation.CLOSE_UPVALUE if variable.captured else Operation.POP)

    def upvalue(self, variable: bound.Variable) -> int:
        """Index of a captured variable in this function, which captures it on first use."""
        if variable not in self.upvalues:
            parent = self._parent
            if parent is None or parent._function == variable.function:  # noqa: SLF001 (same class)
                source = (True, variable.slot)
            else:
                source = (False, parent.upvalue(variable))
            self.upvalues[variable] = source
            self._indexes[variable] = len(self._indexes)
        return self._indexes[variable]

    def function(self, function: bound.BoundFunction) -> None:
        """Print a function and bind what it captures."""
        inner = BytecodePrinter(self._handlers, function.number, self)
        _print_body(inner, function)
        self.emit(
            Operation.CALLABLE,
            function.name,
            len(function.parameters),
            len(inner.upvalues),
            len(inner.cells),
        )
        self.cells.extend(inner.cells)
        self.emit(Operation.CLOSURE, len(inner.upvalues))
        for is_local, index in inner.upvalues.values():
            self.cells.extend([is_local, index])


def _print_body(printer: BytecodePrinter, function: bound.BoundFunction) -> None:
    statements = function.body.statements
    for statement in statements:
        printer.statement(statement)
    if not statements or not isinstance(statements[-1], bound.Return):
        printer.emit(Operation.NULL)
        printer.emit(Operation.RETURN)
    printer.end(function.body.ends)
