"""Prints statements, one or more lines each."""

from hoglet.hog.bind import tree as bound
from hoglet.hog.javascript.printer import Handlers, JavaScriptPrinter, indent, literal


def _expression_statement(printer: JavaScriptPrinter, node: bound.ExpressionStatement) -> str:
    text = printer.expression(node.expression)
    return f"({text});" if text.startswith("{") else f"{text};"


def _value_or_null(printer: JavaScriptPrinter, node: bound.Expression | None) -> str:
    return "null" if node is None else printer.expression(node)


def _declare(printer: JavaScriptPrinter, node: bound.Declare) -> str:
    if not node.recursive:
        value = _value_or_null(printer, node.value)
        return f"let {printer.names.declare(node.variable)} = {value};"
    name = printer.names.declare(node.variable)
    value = _value_or_null(printer, node.value)
    if not node.early:
        return f"let {name} = {value};"
    # one declaration, so that it also fits the head of a `for`
    return f"let {name} = null, {printer.temporary('value')} = ({name} = {value});"


def _declare_function(printer: JavaScriptPrinter, node: bound.DeclareFunction) -> str:
    name = printer.names.declare(node.variable)
    function = node.function
    count = printer.names.count()
    parameters = ", ".join([printer.names.declare(variable) for variable in function.parameters])
    body = printer.function_body(function.body)
    printer.names.end(count)
    return f"function {name}({parameters}) {body}"


def _assign_variable(printer: JavaScriptPrinter, node: bound.AssignVariable) -> str:
    return f"{printer.names[node.variable]} = {printer.expression(node.value)};"


def _assign_property(printer: JavaScriptPrinter, node: bound.AssignProperty) -> str:
    parts = [printer.expression(part) for part in (node.target, node.key, node.value)]
    return printer.call("__setProperty", *parts) + ";"


def _return(printer: JavaScriptPrinter, node: bound.Return) -> str:
    return f"return {_value_or_null(printer, node.value)};"


def _throw(printer: JavaScriptPrinter, node: bound.Throw) -> str:
    return f"throw {printer.expression(node.value)};"


def _if(printer: JavaScriptPrinter, node: bound.If) -> str:
    text = f"if ({printer.expression(node.condition)}) {printer.braced(node.then)}"
    if node.otherwise is None:
        return text
    if isinstance(node.otherwise, bound.If):
        return f"{text} else {printer.statement(node.otherwise)}"
    return f"{text} else {printer.braced(node.otherwise)}"


def _while(printer: JavaScriptPrinter, node: bound.While) -> str:
    return f"while ({printer.expression(node.condition)}) {printer.braced(node.body)}"


def _for(printer: JavaScriptPrinter, node: bound.For) -> str:
    count = printer.names.count()
    head = "" if node.initializer is None else printer.statement(node.initializer).rstrip(";")
    condition = "" if node.condition is None else printer.expression(node.condition)
    step = "" if node.step is None else printer.statement(node.step).rstrip(";")
    body = printer.braced(node.body)
    printer.names.end(count)
    return f"for ({head}; {condition}; {step}) {body}"


def _for_in(printer: JavaScriptPrinter, node: bound.ForIn) -> str:
    collection = printer.expression(node.collection)
    count = printer.names.count()
    if node.key is None:
        value = printer.names.declare(node.value)
        values = printer.call("values", collection)
        text = f"for (let {value} of {values}) {printer.braced(node.body)}"
    else:
        text = _for_key_value(printer, node, node.key, collection)
    printer.names.end(count)
    return text


def _for_key_value(
    printer: JavaScriptPrinter, node: bound.ForIn, key_variable: bound.Variable, collection: str
) -> str:
    once = isinstance(node.collection, bound.ReadVariable) and not node.collection.variable.assigned
    source = collection if once else printer.temporary("collection")
    key = printer.names.declare(key_variable)
    value = printer.names.declare(node.value)
    body = printer.braced(node.body)
    inner = body.removeprefix("{").removesuffix("}").strip("\n")
    lines = f"    let {value} = {source}[{key}];\n" + (f"{inner}\n" if inner else "")
    loop = f"for (let {key} of {printer.call('keys', source)}) {{\n{lines}}}"
    if once:
        return loop
    return "{\n" + indent(f"let {source} = {collection};\n{loop}") + "}"


def _try(printer: JavaScriptPrinter, node: bound.Try) -> str:
    body = printer.braced(node.body)
    return f"try {body} catch (__error) {{\n{indent(_catches(printer, node, node.catches))}}}"


def _catches(printer: JavaScriptPrinter, node: bound.Try, catches: tuple[bound.Catch, ...]) -> str:
    if not catches:
        return "{ throw __error; }"
    clause = catches[0]
    body = "{\n" + indent(_catch_body(printer, node, clause)) + "}"
    if clause.type_name is None:
        return body
    test = f"if (__error.type === {literal(clause.type_name)})"
    return f"{test} {body} else {_catches(printer, node, catches[1:])}"


def _catch_body(printer: JavaScriptPrinter, node: bound.Try, clause: bound.Catch) -> str:
    """Bind the error to the clause's name, also to ``e`` and ``type`` if they are read."""
    count = printer.names.count()
    lines = [f"let {printer.names.declare(clause.variable)} = __error;"]
    if _is_needed(node.error) and clause.variable is not node.error:
        lines.append(f"let {printer.names.declare(node.error)} = __error;")
    if _is_needed(node.error_type):
        lines.append(f"let {printer.names.declare(node.error_type)} = __error.type;")
    if clause.body.statements:
        lines.append(printer.statements(clause.body))
    printer.names.end(count)
    return "\n".join(lines)


def _is_needed(variable: bound.Variable) -> bool:
    return variable.used or variable.assigned


def _block(printer: JavaScriptPrinter, node: bound.Block) -> str:
    return printer.braced(node)


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
    bound.Block: _block,
}
