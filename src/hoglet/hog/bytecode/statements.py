"""Prints statements: code that leaves the stack unchanged except for declared variables."""

from hoglet.hog.bind import tree as bound
from hoglet.hog.bytecode.printer import BytecodePrinter, Handlers
from hoglet.hog.opcodes import Operation


def _expression_statement(printer: BytecodePrinter, node: bound.ExpressionStatement) -> None:
    printer.expression(node.expression)
    printer.emit(Operation.POP)


def _value_or_null(printer: BytecodePrinter, node: bound.Expression | None) -> None:
    if node is None:
        printer.emit(Operation.NULL)
    else:
        printer.expression(node)


def _declare(printer: BytecodePrinter, node: bound.Declare) -> None:
    if node.early:
        printer.emit(Operation.NULL)
    _value_or_null(printer, node.value)
    if node.early:
        printer.emit(Operation.SET_LOCAL, node.variable.slot)


def _declare_function(printer: BytecodePrinter, node: bound.DeclareFunction) -> None:
    printer.function(node.function)


def _assign_variable(printer: BytecodePrinter, node: bound.AssignVariable) -> None:
    printer.expression(node.value)
    if node.outer:
        printer.emit(Operation.SET_UPVALUE, printer.upvalue(node.variable))
    else:
        printer.emit(Operation.SET_LOCAL, node.variable.slot)


def _assign_property(printer: BytecodePrinter, node: bound.AssignProperty) -> None:
    printer.expression(node.target)
    printer.expression(node.key)
    printer.expression(node.value)
    printer.emit(Operation.SET_PROPERTY)


def _return(printer: BytecodePrinter, node: bound.Return) -> None:
    _value_or_null(printer, node.value)
    printer.emit(Operation.RETURN)


def _throw(printer: BytecodePrinter, node: bound.Throw) -> None:
    printer.expression(node.value)
    printer.emit(Operation.THROW)


def _if(printer: BytecodePrinter, node: bound.If) -> None:
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


def _while(printer: BytecodePrinter, node: bound.While) -> None:
    start = len(printer.cells)
    printer.expression(node.condition)
    end = printer.jump(Operation.JUMP_IF_FALSE)
    printer.statement(node.body)
    printer.jump_back(start)
    printer.land(end)


def _for(printer: BytecodePrinter, node: bound.For) -> None:
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


def _for_in(printer: BytecodePrinter, node: bound.ForIn) -> None:
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


def _call_on(printer: BytecodePrinter, name: str, slot: int) -> None:
    printer.emit(Operation.GET_LOCAL, slot)
    printer.emit(Operation.CALL_GLOBAL, name, 1)


def _take(printer: BytecodePrinter, source: int, index: int, variable: bound.Variable) -> None:
    printer.emit(Operation.GET_LOCAL, source)
    printer.emit(Operation.GET_LOCAL, index)
    printer.emit(Operation.GET_PROPERTY)
    printer.emit(Operation.SET_LOCAL, variable.slot)


def _try(printer: BytecodePrinter, node: bound.Try) -> None:
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


def _catch(printer: BytecodePrinter, node: bound.Try, clause: bound.Catch) -> int:
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


STATEMENTS: Handlers = {
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
    bound.Block: BytecodePrinter.block,
}
