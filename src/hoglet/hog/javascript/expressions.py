"""Prints expressions, parenthesised where necessary."""

from hoglet.hog.bind import tree as bound
from hoglet.hog.javascript.names import safe_name
from hoglet.hog.javascript.printer import Handlers, JavaScriptPrinter, literal

_ORDER = {"<": "__lt", "<=": "__lte", ">": "__gt", ">=": "__gte"}
_PATTERN = {
    "like": "like",
    "ilike": "ilike",
    "=~": "match",
    "=~*": "__imatch",
    "not like": "!like",
    "not ilike": "!ilike",
    "!~": "!match",
    "!~*": "!__imatch",
}


def _constant(_: JavaScriptPrinter, node: bound.Constant) -> str:
    return literal(node.value)


def _read_variable(printer: JavaScriptPrinter, node: bound.ReadVariable) -> str:
    return printer.names[node.variable]


def _read_global(printer: JavaScriptPrinter, node: bound.ReadGlobal) -> str:
    root, *rest = node.path
    if node.library:
        return printer.use(safe_name(str(root)))
    text = f"__getGlobal({literal(root)})"
    for part in rest:
        text = printer.call("__getProperty", text, literal(part), "true")
    return text


def _get_property(printer: JavaScriptPrinter, node: bound.GetProperty) -> str:
    nullish = "true" if node.nullish or node.dotted else "false"
    target, key = printer.expression(node.target), printer.expression(node.key)
    return printer.call("__getProperty", target, key, nullish)


def _call_global(printer: JavaScriptPrinter, node: bound.CallGlobal) -> str:
    return printer.call(safe_name(node.name), printer.all(node.arguments))


def _call_value(printer: JavaScriptPrinter, node: bound.CallValue) -> str:
    arguments = printer.all(node.arguments)
    callee = printer.expression(node.callee)
    return f"{callee}({arguments})"


def _and(printer: JavaScriptPrinter, node: bound.And) -> str:
    return f"!!({' && '.join([printer.expression(operand) for operand in node.operands])})"


def _or(printer: JavaScriptPrinter, node: bound.Or) -> str:
    return f"!!({' || '.join([printer.expression(operand) for operand in node.operands])})"


def _not(printer: JavaScriptPrinter, node: bound.Not) -> str:
    return f"(!{printer.expression(node.operand)})"


def _between(printer: JavaScriptPrinter, node: bound.Between) -> str:
    low, value, high = (printer.expression(part) for part in (node.low, node.value, node.high))
    below, above, join = ("__lt", "__gt", "||") if node.negated else ("__gte", "__lte", "&&")
    test = f"{printer.call(below, 'x', 'low')} {join} {printer.call(above, 'x', 'high')}"
    return f"((low, x, high) => {test})({low}, {value}, {high})"


def _binary(printer: JavaScriptPrinter, node: bound.Arithmetic | bound.Compare) -> str:
    """Print a left-deep chain without recursion; it can have hundreds of operands."""
    spine: list[bound.Arithmetic | bound.Compare] = []
    current: bound.Expression = node
    while isinstance(current, bound.Arithmetic | bound.Compare):
        spine.append(current)
        current = current.left
    text = printer.expression(current)
    for operation in reversed(spine):
        right = printer.expression(operation.right)
        if isinstance(operation, bound.Arithmetic):
            text = f"({text} {operation.operator} {right})"
        else:
            text = _compare(printer, operation.operator, text, right)
    return text


def _compare(printer: JavaScriptPrinter, operator: str, left: str, right: str) -> str:
    if operator in _ORDER:
        return printer.call(_ORDER[operator], left, right)
    if operator in _PATTERN:
        name = _PATTERN[operator]
        call = printer.call(name.removeprefix("!"), left, right)
        return f"(!{call})" if name.startswith("!") else call
    if operator == "in":
        return f"({right}.includes({left}))"
    if operator == "not in":
        return f"(!{right}.includes({left}))"
    return f"({left} {operator} {right})"


def _conditional(printer: JavaScriptPrinter, node: bound.Conditional) -> str:
    parts = [printer.expression(part) for part in (node.condition, node.then, node.otherwise)]
    return "({} ? {} : {})".format(*parts)


def _if_null(printer: JavaScriptPrinter, node: bound.IfNull) -> str:
    return f"({printer.expression(node.value)} ?? {printer.expression(node.fallback)})"


def _make_array(printer: JavaScriptPrinter, node: bound.MakeArray) -> str:
    return f"[{printer.all(node.items)}]"


def _make_tuple(printer: JavaScriptPrinter, node: bound.MakeTuple) -> str:
    return printer.call("tuple", printer.all(node.items))


def _make_object(printer: JavaScriptPrinter, node: bound.MakeObject) -> str:
    pairs = [f"{_key(printer, key)}: {printer.expression(value)}" for key, value in node.items]
    return "{" + ", ".join(pairs) + "}"


def _key(printer: JavaScriptPrinter, key: bound.Expression) -> str:
    if isinstance(key, bound.Constant) and isinstance(key.value, str) and key.value != "__proto__":
        return literal(key.value)
    return f"[{printer.expression(key)}]"


def _make_function(printer: JavaScriptPrinter, node: bound.MakeFunction) -> str:
    function = node.function
    count = printer.names.count()
    parameters = ", ".join([printer.names.declare(variable) for variable in function.parameters])
    body = _lambda_body(printer, function.body)
    printer.names.end(count)
    return printer.call("__lambda", f"({parameters}) => {body}")


def _lambda_body(printer: JavaScriptPrinter, body: bound.Block) -> str:
    if len(body.statements) == 1 and isinstance(body.statements[0], bound.Return):
        value = body.statements[0].value
        if value is None:
            return "null"
        text = printer.expression(value)
        return f"({text})" if text.startswith("{") else text
    return printer.function_body(body)


def _sql_node(printer: JavaScriptPrinter, node: bound.SqlNode) -> str:
    fields = [f"{literal(name)}: {_sql_value(printer, value)}" for name, value in node.fields]
    return "{" + ", ".join([f'"__hx_ast": {literal(node.kind)}', *fields]) + "}"


def _sql_value(printer: JavaScriptPrinter, value: bound.SqlValue) -> str:
    match value:
        case bound.SqlList(items):
            return f"[{', '.join([_sql_value(printer, item) for item in items])}]"
        case bound.SqlMap(items):
            pairs = [f"{literal(key)}: {_sql_value(printer, item)}" for key, item in items]
            return "{" + ", ".join(pairs) + "}"
        case bound.SqlScalar(scalar):
            return literal(scalar)
        case _:
            return printer.expression(value)


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
