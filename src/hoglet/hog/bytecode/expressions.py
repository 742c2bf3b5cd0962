"""Prints expressions: code that pushes a value."""

import math

from hoglet.hog.bind import tree as bound
from hoglet.hog.bytecode.printer import BytecodePrinter, Handlers
from hoglet.hog.opcodes import Operation

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


def _constant(printer: BytecodePrinter, node: bound.Constant) -> None:
    _scalar(printer, node.value)


def _scalar(printer: BytecodePrinter, value: bound.Scalar) -> None:
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


def _not_finite(printer: BytecodePrinter, value: float) -> None:
    dividend = 0 if math.isnan(value) else int(math.copysign(1, value))
    printer.emit(Operation.INTEGER, 0)
    printer.emit(Operation.INTEGER, dividend)
    printer.emit(Operation.DIVIDE)


def _read_variable(printer: BytecodePrinter, node: bound.ReadVariable) -> None:
    if node.outer:
        printer.emit(Operation.GET_UPVALUE, printer.upvalue(node.variable))
    else:
        printer.emit(Operation.GET_LOCAL, node.variable.slot)


def _read_global(printer: BytecodePrinter, node: bound.ReadGlobal) -> None:
    for part in reversed(node.path):
        _scalar(printer, part)
    printer.emit(Operation.GET_GLOBAL, len(node.path))


def _get_property(printer: BytecodePrinter, node: bound.GetProperty) -> None:
    printer.expression(node.target)
    printer.expression(node.key)
    printer.emit(Operation.GET_PROPERTY_NULLISH if node.nullish else Operation.GET_PROPERTY)


def _call_global(printer: BytecodePrinter, node: bound.CallGlobal) -> None:
    _all(printer, node.arguments)
    printer.emit(Operation.CALL_GLOBAL, node.name, len(node.arguments))


def _call_value(printer: BytecodePrinter, node: bound.CallValue) -> None:
    _all(printer, node.arguments)
    printer.expression(node.callee)
    printer.emit(Operation.CALL_LOCAL, len(node.arguments))


def _all(printer: BytecodePrinter, nodes: tuple[bound.Expression, ...]) -> None:
    for node in nodes:
        printer.expression(node)


def _and(printer: BytecodePrinter, node: bound.And) -> None:
    _all(printer, node.operands)
    printer.emit(Operation.AND, len(node.operands))


def _or(printer: BytecodePrinter, node: bound.Or) -> None:
    _all(printer, node.operands)
    printer.emit(Operation.OR, len(node.operands))


def _not(printer: BytecodePrinter, node: bound.Not) -> None:
    printer.expression(node.operand)
    printer.emit(Operation.NOT)


def _between(printer: BytecodePrinter, node: bound.Between) -> None:
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


def _binary(printer: BytecodePrinter, node: bound.Arithmetic | bound.Compare) -> None:
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


def _conditional(printer: BytecodePrinter, node: bound.Conditional) -> None:
    printer.expression(node.condition)
    otherwise = printer.jump(Operation.JUMP_IF_FALSE)
    printer.expression(node.then)
    end = printer.jump(Operation.JUMP)
    printer.land(otherwise)
    printer.expression(node.otherwise)
    printer.land(end)


def _if_null(printer: BytecodePrinter, node: bound.IfNull) -> None:
    printer.expression(node.value)
    end = printer.jump(Operation.JUMP_IF_STACK_NOT_NULL)
    printer.emit(Operation.POP)
    printer.expression(node.fallback)
    printer.land(end)


def _make_array(printer: BytecodePrinter, node: bound.MakeArray) -> None:
    _all(printer, node.items)
    printer.emit(Operation.ARRAY, len(node.items))


def _make_tuple(printer: BytecodePrinter, node: bound.MakeTuple) -> None:
    _all(printer, node.items)
    printer.emit(Operation.TUPLE, len(node.items))


def _make_object(printer: BytecodePrinter, node: bound.MakeObject) -> None:
    for pair in node.items:
        _all(printer, pair)
    printer.emit(Operation.DICT, len(node.items))


def _make_function(printer: BytecodePrinter, node: bound.MakeFunction) -> None:
    printer.function(node.function)


def _sql_node(printer: BytecodePrinter, node: bound.SqlNode) -> None:
    printer.emit(Operation.STRING, "__hx_ast")
    printer.emit(Operation.STRING, node.kind)
    for name, value in node.fields:
        printer.emit(Operation.STRING, name)
        _sql_value(printer, value)
    printer.emit(Operation.DICT, len(node.fields) + 1)


def _sql_value(printer: BytecodePrinter, value: bound.SqlValue) -> None:
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


EXPRESSIONS: Handlers = {
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
