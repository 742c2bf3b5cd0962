"""The bytecode printer: generates the JSON array that the official VMs run.

The layout matches the official compiler's, cell by cell, so that stored bytecode can be compared.
The result contains only ``str``, ``int``, ``float``, ``bool`` and is deterministic. Infinities and
NaN, which JSON lacks, are printed as a division.

Source: docs/spec/hog-language.md#12-bytecode.
"""

import math
from collections.abc import Callable
from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.depth import guarded
from hoglet.hog.opcodes import Operation

type Bytecode = list[Any]

_ARITHMETIC = {
    "+": Operation.PLUS,
    "-": Operation.MINUS,
    "*": Operation.MULTIPLY,
    "/": Operation.DIVIDE,
    "%": Operation.MOD,
}
_COMPARISON = {
    "==": Operation.EQ,
    "!=": Operation.NOT_EQ,
    "<": Operation.LT,
    "<=": Operation.LT_EQ,
    ">": Operation.GT,
    ">=": Operation.GT_EQ,
    "like": Operation.LIKE,
    "ilike": Operation.ILIKE,
    "not like": Operation.NOT_LIKE,
    "not ilike": Operation.NOT_ILIKE,
    "in": Operation.IN,
    "not in": Operation.NOT_IN,
    "=~": Operation.REGEX,
    "!~": Operation.NOT_REGEX,
    "=~*": Operation.IREGEX,
    "!~*": Operation.NOT_IREGEX,
}


def program_bytecode(program: bound.BoundProgram) -> Bytecode:
    """Bytecode of a program, e.g. ``["_H", 1, 33, 1, 35]`` for ``1``.

    Raises:
        SourceError: the program is nested too deeply.
    """
    printer = _Printer(program.root.number, None)
    guarded(lambda: printer.block(program.root.body))
    return ["_H", 1, *printer.cells]


def expression_bytecode(expression: bound.BoundExpression) -> Bytecode:
    """Bytecode of one expression, e.g. ``["_H", 1, 29]`` for ``true``.

    Raises:
        SourceError: the expression is nested too deeply.
    """
    printer = _Printer(0, None)
    guarded(lambda: printer.expression(expression.expression))
    return ["_H", 1, *printer.cells]


class _Printer:
    """Prints one function; inner functions get a printer of their own."""

    def __init__(self, function: int, parent: "_Printer | None") -> None:
        self.cells: Bytecode = []
        self.upvalues: dict[bound.Variable, tuple[bool, int]] = {}
        self._indexes: dict[bound.Variable, int] = {}
        self._function = function
        self._parent = parent

    def expression(self, node: bound.Expression) -> None:
        """Print code that pushes the value of ``node``."""
        _EXPRESSIONS[type(node)](self, node)

    def statement(self, node: bound.Statement) -> None:
        """Print code that leaves the stack unchanged except for declared variables."""
        _STATEMENTS[type(node)](self, node)

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
        inner = _Printer(function.number, self)
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


def _print_body(printer: _Printer, function: bound.BoundFunction) -> None:
    statements = function.body.statements
    for statement in statements:
        printer.statement(statement)
    if not statements or not isinstance(statements[-1], bound.Return):
        printer.emit(Operation.NULL)
        printer.emit(Operation.RETURN)
    printer.end(function.body.ends)


# --- expressions


def _constant(printer: _Printer, node: bound.Constant) -> None:
    _scalar(printer, node.value)


def _scalar(printer: _Printer, value: bound.Scalar) -> None:
    if value is None:
        printer.emit(Operation.NULL)
    elif isinstance(value, bool):
        printer.emit(Operation.TRUE if value else Operation.FALSE)
    elif isinstance(value, str):
        printer.emit(Operation.STRING, value)
    elif isinstance(value, int):
        printer.emit(Operation.INTEGER, value)
    elif math.isfinite(value):
        printer.emit(Operation.FLOAT, value)
    else:
        _not_finite(printer, value)


def _not_finite(printer: _Printer, value: float) -> None:
    dividend = 0 if math.isnan(value) else int(math.copysign(1, value))
    printer.emit(Operation.INTEGER, 0)
    printer.emit(Operation.INTEGER, dividend)
    printer.emit(Operation.DIVIDE)


def _read_variable(printer: _Printer, node: bound.ReadVariable) -> None:
    if node.outer:
        printer.emit(Operation.GET_UPVALUE, printer.upvalue(node.variable))
    else:
        printer.emit(Operation.GET_LOCAL, node.variable.slot)


def _read_global(printer: _Printer, node: bound.ReadGlobal) -> None:
    for part in reversed(node.path):
        _scalar(printer, part)
    printer.emit(Operation.GET_GLOBAL, len(node.path))


def _get_property(printer: _Printer, node: bound.GetProperty) -> None:
    printer.expression(node.target)
    printer.expression(node.key)
    printer.emit(Operation.GET_PROPERTY_NULLISH if node.nullish else Operation.GET_PROPERTY)


def _call_global(printer: _Printer, node: bound.CallGlobal) -> None:
    _all(printer, node.arguments)
    printer.emit(Operation.CALL_GLOBAL, node.name, len(node.arguments))


def _call_value(printer: _Printer, node: bound.CallValue) -> None:
    _all(printer, node.arguments)
    printer.expression(node.callee)
    printer.emit(Operation.CALL_LOCAL, len(node.arguments))


def _all(printer: _Printer, nodes: tuple[bound.Expression, ...]) -> None:
    for node in nodes:
        printer.expression(node)


def _and(printer: _Printer, node: bound.And) -> None:
    _all(printer, node.operands)
    printer.emit(Operation.AND, len(node.operands))


def _or(printer: _Printer, node: bound.Or) -> None:
    _all(printer, node.operands)
    printer.emit(Operation.OR, len(node.operands))


def _not(printer: _Printer, node: bound.Not) -> None:
    printer.expression(node.operand)
    printer.emit(Operation.NOT)


def _between(printer: _Printer, node: bound.Between) -> None:
    above, below, join = Operation.GT_EQ, Operation.LT_EQ, Operation.AND
    if node.negated:
        above, below, join = Operation.LT, Operation.GT, Operation.OR
    printer.expression(node.low)
    printer.expression(node.value)
    printer.emit(above)
    printer.expression(node.high)
    printer.expression(node.value)
    printer.emit(below)
    printer.emit(join, 2)


def _binary(printer: _Printer, node: bound.Arithmetic | bound.Compare) -> None:
    """Print a left-leaning chain without recursion; it may be hundreds long."""
    spine: list[bound.Arithmetic | bound.Compare] = []
    current: bound.Expression = node
    while isinstance(current, bound.Arithmetic | bound.Compare):
        printer.expression(current.right)
        spine.append(current)
        current = current.left
    printer.expression(current)
    for operation in reversed(spine):
        if isinstance(operation, bound.Arithmetic):
            printer.emit(_ARITHMETIC[operation.operator])
        else:
            printer.emit(_COMPARISON[operation.operator])


def _conditional(printer: _Printer, node: bound.Conditional) -> None:
    printer.expression(node.condition)
    otherwise = printer.jump(Operation.JUMP_IF_FALSE)
    printer.expression(node.then)
    end = printer.jump(Operation.JUMP)
    printer.land(otherwise)
    printer.expression(node.otherwise)
    printer.land(end)


def _if_null(printer: _Printer, node: bound.IfNull) -> None:
    printer.expression(node.value)
    end = printer.jump(Operation.JUMP_IF_STACK_NOT_NULL)
    printer.emit(Operation.POP)
    printer.expression(node.fallback)
    printer.land(end)


def _make_array(printer: _Printer, node: bound.MakeArray) -> None:
    _all(printer, node.items)
    printer.emit(Operation.ARRAY, len(node.items))


def _make_tuple(printer: _Printer, node: bound.MakeTuple) -> None:
    _all(printer, node.items)
    printer.emit(Operation.TUPLE, len(node.items))


def _make_object(printer: _Printer, node: bound.MakeObject) -> None:
    for pair in node.items:
        _all(printer, pair)
    printer.emit(Operation.DICT, len(node.items))


def _make_function(printer: _Printer, node: bound.MakeFunction) -> None:
    printer.function(node.function)


def _sql_node(printer: _Printer, node: bound.SqlNode) -> None:
    printer.emit(Operation.STRING, "__hx_ast")
    printer.emit(Operation.STRING, node.kind)
    for name, value in node.fields:
        printer.emit(Operation.STRING, name)
        _sql_value(printer, value)
    printer.emit(Operation.DICT, len(node.fields) + 1)


def _sql_value(printer: _Printer, value: bound.SqlValue) -> None:
    match value:
        case bound.SqlList(items):
            for item in items:
                _sql_value(printer, item)
            printer.emit(Operation.ARRAY, len(items))
        case bound.SqlMap(items):
            for key, item in items:
                printer.emit(Operation.STRING, key)
                _sql_value(printer, item)
            printer.emit(Operation.DICT, len(items))
        case bound.SqlScalar(bool() as flag):
            printer.emit(Operation.INTEGER, flag)
        case bound.SqlScalar(scalar):
            _scalar(printer, scalar)
        case _:
            printer.expression(value)


# --- statements


def _expression_statement(printer: _Printer, node: bound.ExpressionStatement) -> None:
    printer.expression(node.expression)
    printer.emit(Operation.POP)


def _value_or_null(printer: _Printer, node: bound.Expression | None) -> None:
    if node is None:
        printer.emit(Operation.NULL)
    else:
        printer.expression(node)


def _declare(printer: _Printer, node: bound.Declare) -> None:
    if node.early:
        printer.emit(Operation.NULL)
    _value_or_null(printer, node.value)
    if node.early:
        printer.emit(Operation.SET_LOCAL, node.variable.slot)


def _declare_function(printer: _Printer, node: bound.DeclareFunction) -> None:
    printer.function(node.function)


def _assign_variable(printer: _Printer, node: bound.AssignVariable) -> None:
    printer.expression(node.value)
    if node.outer:
        printer.emit(Operation.SET_UPVALUE, printer.upvalue(node.variable))
    else:
        printer.emit(Operation.SET_LOCAL, node.variable.slot)


def _assign_property(printer: _Printer, node: bound.AssignProperty) -> None:
    printer.expression(node.target)
    printer.expression(node.key)
    printer.expression(node.value)
    printer.emit(Operation.SET_PROPERTY)


def _return(printer: _Printer, node: bound.Return) -> None:
    _value_or_null(printer, node.value)
    printer.emit(Operation.RETURN)


def _throw(printer: _Printer, node: bound.Throw) -> None:
    printer.expression(node.value)
    printer.emit(Operation.THROW)


def _if(printer: _Printer, node: bound.If) -> None:
    printer.expression(node.condition)
    otherwise = printer.jump(Operation.JUMP_IF_FALSE)
    printer.statement(node.then)
    if node.otherwise is None:
        printer.land(otherwise)
        return
    end = printer.jump(Operation.JUMP)
    printer.land(otherwise)
    printer.statement(node.otherwise)
    printer.land(end)


def _while(printer: _Printer, node: bound.While) -> None:
    start = len(printer.cells)
    printer.expression(node.condition)
    end = printer.jump(Operation.JUMP_IF_FALSE)
    printer.statement(node.body)
    printer.jump_back(start)
    printer.land(end)


def _for(printer: _Printer, node: bound.For) -> None:
    if node.initializer is not None:
        printer.statement(node.initializer)
    start = len(printer.cells)
    if node.condition is None:
        printer.emit(Operation.TRUE)
    else:
        printer.expression(node.condition)
    end = printer.jump(Operation.JUMP_IF_FALSE)
    printer.statement(node.body)
    if node.step is not None:
        printer.statement(node.step)
    printer.jump_back(start)
    printer.land(end)
    printer.end(node.ends)


def _for_in(printer: _Printer, node: bound.ForIn) -> None:
    collection, *keys, values, index, limit = [variable.slot for variable in node.hidden]
    printer.expression(node.collection)
    for _ in keys:
        _call_on(printer, "keys", collection)
    _call_on(printer, "values", collection)
    printer.emit(Operation.INTEGER, 1)
    _call_on(printer, "length", values)
    for _ in (*keys, node.value):
        printer.emit(Operation.NULL)
    start = len(printer.cells)
    printer.emit(Operation.GET_LOCAL, limit)
    printer.emit(Operation.GET_LOCAL, index)
    printer.emit(Operation.LT_EQ)
    end = printer.jump(Operation.JUMP_IF_FALSE)
    if node.key is not None:
        _take(printer, keys[0], index, node.key)
    _take(printer, values, index, node.value)
    printer.statement(node.body)
    printer.emit(Operation.GET_LOCAL, index)
    printer.emit(Operation.INTEGER, 1)
    printer.emit(Operation.PLUS)
    printer.emit(Operation.SET_LOCAL, index)
    printer.jump_back(start)
    printer.land(end)
    printer.end(node.ends)


def _call_on(printer: _Printer, name: str, slot: int) -> None:
    printer.emit(Operation.GET_LOCAL, slot)
    printer.emit(Operation.CALL_GLOBAL, name, 1)


def _take(printer: _Printer, source: int, index: int, variable: bound.Variable) -> None:
    printer.emit(Operation.GET_LOCAL, source)
    printer.emit(Operation.GET_LOCAL, index)
    printer.emit(Operation.GET_PROPERTY)
    printer.emit(Operation.SET_LOCAL, variable.slot)


def _try(printer: _Printer, node: bound.Try) -> None:
    handler = printer.jump(Operation.TRY)
    printer.statement(node.body)
    printer.emit(Operation.POP_TRY)
    end = printer.jump(Operation.JUMP)
    printer.land(handler)
    printer.cells[handler - 1] += 1  # the machine counts a handler from the operand itself
    printer.emit(Operation.GET_LOCAL, node.error.slot)
    printer.emit(Operation.STRING, "type")
    printer.emit(Operation.GET_PROPERTY)
    caught = [_catch(printer, node, clause) for clause in node.catches]
    printer.emit(Operation.POP)
    printer.emit(Operation.THROW)
    for jump in caught:
        printer.land(jump)
    printer.end(node.ends)
    printer.land(end)


def _catch(printer: _Printer, node: bound.Try, clause: bound.Catch) -> int:
    skip = None
    if clause.type_name is not None:
        printer.emit(Operation.STRING, clause.type_name)
        printer.emit(Operation.GET_LOCAL, node.error_type.slot)
        printer.emit(Operation.EQ)
        skip = printer.jump(Operation.JUMP_IF_FALSE)
    if clause.variable is not node.error:
        printer.emit(Operation.GET_LOCAL, node.error.slot)
    printer.block(clause.body)
    printer.end(clause.ends)
    caught = printer.jump(Operation.JUMP)
    if skip is not None:
        printer.land(skip)
    return caught


_EXPRESSIONS: dict[type, Callable[[_Printer, Any], None]] = {
    bound.Constant: _constant,
    bound.ReadVariable: _read_variable,
    bound.ReadGlobal: _read_global,
    bound.GetProperty: _get_property,
    bound.CallGlobal: _call_global,
    bound.CallValue: _call_value,
    bound.And: _and,
    bound.Or: _or,
    bound.Not: _not,
    bound.Between: _between,
    bound.Compare: _binary,
    bound.Arithmetic: _binary,
    bound.Conditional: _conditional,
    bound.IfNull: _if_null,
    bound.MakeArray: _make_array,
    bound.MakeTuple: _make_tuple,
    bound.MakeObject: _make_object,
    bound.MakeFunction: _make_function,
    bound.SqlNode: _sql_node,
}
_STATEMENTS: dict[type, Callable[[_Printer, Any], None]] = {
    bound.ExpressionStatement: _expression_statement,
    bound.Declare: _declare,
    bound.DeclareFunction: _declare_function,
    bound.AssignVariable: _assign_variable,
    bound.AssignProperty: _assign_property,
    bound.Return: _return,
    bound.Throw: _throw,
    bound.If: _if,
    bound.While: _while,
    bound.For: _for,
    bound.ForIn: _for_in,
    bound.Try: _try,
    bound.Block: _Printer.block,
}
