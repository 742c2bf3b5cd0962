"""The JavaScript printer.

Source: docs/spec/hog-language.md#14-javascript.
"""

import json
import math
from collections.abc import Callable
from typing import Any

import msgspec

from hoglet.hog.bind import tree as bound
from hoglet.hog.compile import compile_template
from hoglet.hog.depth import guarded
from hoglet.hog.javascript.library import helpers, library_source
from hoglet.hog.javascript.names import VariableNames, safe_name

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


class JavaScript(msgspec.Struct, frozen=True):
    """Printed code and the helpers that it calls by name.

    ``JavaScript('concat("a ", x)', ("concat",))``; :func:`library_source` returns the source of the
    helpers and of those they call.
    """

    code: str
    helpers: tuple[str, ...]


def program_javascript(program: bound.BoundProgram) -> str:
    """A whole program: the helpers it uses, then its statements.

    Raises:
        SourceError: the program is nested too deeply.
    """
    printer = _Printer()
    code = guarded(lambda: printer.statements(program.root.body))
    return "\n".join(part for part in (library_source(printer.used), code) if part) + "\n"


def expression_javascript(expression: bound.BoundExpression) -> JavaScript:
    """One expression, without its helpers.

    Raises:
        SourceError: the expression is nested too deeply.
    """
    printer = _Printer()
    code = guarded(lambda: printer.expression(expression.expression))
    return JavaScript(code, tuple(sorted(printer.used & helpers().keys())))


def template_javascript(text: str) -> JavaScript:
    """A template text, e.g. ``concat("Hello ", __getGlobal("event"))`` for ``Hello {event}``.

    Raises:
        SourceError: the template does not parse or compile.
    """
    return expression_javascript(compile_template(text))


class _Printer:
    def __init__(self) -> None:
        self.used: set[str] = set()
        self.names = VariableNames(helpers())
        self._temporaries = 0

    def expression(self, node: bound.Expression) -> str:
        """Text of an expression, parenthesised where necessary."""
        return _EXPRESSIONS[type(node)](self, node)

    def all(self, nodes: tuple[bound.Expression, ...]) -> str:
        """Texts of expressions, joined with commas."""
        return ", ".join([self.expression(node) for node in nodes])

    def statement(self, node: bound.Statement) -> str:
        """Text of a statement, lines joined with line breaks."""
        return _STATEMENTS[type(node)](self, node)

    def statements(self, block: bound.Block) -> str:
        """The statements of a block without its braces."""
        return "\n".join([self.statement(statement) for statement in block.statements])

    def braced(self, node: bound.Statement) -> str:
        """A statement as a block; its variables end with it."""
        count = self.names.count()
        inner = self.statements(node) if isinstance(node, bound.Block) else self.statement(node)
        self.names.end(count)
        return "{\n" + indent(inner) + "}" if inner else "{}"

    def use(self, helper: str) -> str:
        """Record that the program calls ``helper``."""
        self.used.add(helper)
        return helper

    def call(self, helper: str, *arguments: str) -> str:
        """Text of a call of a helper."""
        return f"{self.use(helper)}({', '.join(arguments)})"

    def temporary(self, what: str) -> str:
        """A name that Hog programs cannot contain."""
        self._temporaries += 1
        return f"__{what}_{self._temporaries}"


def indent(text: str) -> str:
    """Indent every line; ends with a line break. Literals never contain line breaks."""
    return "".join(f"    {line}\n" for line in text.split("\n"))


def literal(value: bound.Scalar) -> str:
    """A JavaScript literal."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("</", "<\\/")


# --- expressions


def _constant(_: _Printer, node: bound.Constant) -> str:
    return literal(node.value)


def _read_variable(printer: _Printer, node: bound.ReadVariable) -> str:
    return printer.names[node.variable]


def _read_global(printer: _Printer, node: bound.ReadGlobal) -> str:
    root, *rest = node.path
    if node.library:
        return printer.use(safe_name(str(root)))
    text = f"__getGlobal({literal(root)})"
    for part in rest:
        text = printer.call("__getProperty", text, literal(part), "true")
    return text


def _get_property(printer: _Printer, node: bound.GetProperty) -> str:
    nullish = "true" if node.nullish or node.dotted else "false"
    target, key = printer.expression(node.target), printer.expression(node.key)
    return printer.call("__getProperty", target, key, nullish)


def _call_global(printer: _Printer, node: bound.CallGlobal) -> str:
    return printer.call(safe_name(node.name), printer.all(node.arguments))


def _call_value(printer: _Printer, node: bound.CallValue) -> str:
    arguments = printer.all(node.arguments)
    callee = printer.expression(node.callee)
    return f"{callee}({arguments})"


def _and(printer: _Printer, node: bound.And) -> str:
    return f"!!({' && '.join([printer.expression(operand) for operand in node.operands])})"


def _or(printer: _Printer, node: bound.Or) -> str:
    return f"!!({' || '.join([printer.expression(operand) for operand in node.operands])})"


def _not(printer: _Printer, node: bound.Not) -> str:
    return f"(!{printer.expression(node.operand)})"


def _between(printer: _Printer, node: bound.Between) -> str:
    low, value, high = (printer.expression(part) for part in (node.low, node.value, node.high))
    below, above, join = ("__lt", "__gt", "||") if node.negated else ("__gte", "__lte", "&&")
    test = f"{printer.call(below, 'x', 'low')} {join} {printer.call(above, 'x', 'high')}"
    return f"((low, x, high) => {test})({low}, {value}, {high})"


def _binary(printer: _Printer, node: bound.Arithmetic | bound.Compare) -> str:
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


def _compare(printer: _Printer, operator: str, left: str, right: str) -> str:
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


def _conditional(printer: _Printer, node: bound.Conditional) -> str:
    parts = [printer.expression(part) for part in (node.condition, node.then, node.otherwise)]
    return "({} ? {} : {})".format(*parts)


def _if_null(printer: _Printer, node: bound.IfNull) -> str:
    return f"({printer.expression(node.value)} ?? {printer.expression(node.fallback)})"


def _make_array(printer: _Printer, node: bound.MakeArray) -> str:
    return f"[{printer.all(node.items)}]"


def _make_tuple(printer: _Printer, node: bound.MakeTuple) -> str:
    return printer.call("tuple", printer.all(node.items))


def _make_object(printer: _Printer, node: bound.MakeObject) -> str:
    pairs = [f"{_key(printer, key)}: {printer.expression(value)}" for key, value in node.items]
    return "{" + ", ".join(pairs) + "}"


def _key(printer: _Printer, key: bound.Expression) -> str:
    if isinstance(key, bound.Constant) and isinstance(key.value, str) and key.value != "__proto__":
        return literal(key.value)
    return f"[{printer.expression(key)}]"


def _make_function(printer: _Printer, node: bound.MakeFunction) -> str:
    function = node.function
    count = printer.names.count()
    parameters = ", ".join([printer.names.declare(variable) for variable in function.parameters])
    body = _lambda_body(printer, function.body)
    printer.names.end(count)
    return printer.call("__lambda", f"({parameters}) => {body}")


def _lambda_body(printer: _Printer, body: bound.Block) -> str:
    if len(body.statements) == 1 and isinstance(body.statements[0], bound.Return):
        value = body.statements[0].value
        if value is None:
            return "null"
        text = printer.expression(value)
        return f"({text})" if text.startswith("{") else text
    return _function_body(printer, body)


def _function_body(printer: _Printer, body: bound.Block) -> str:
    inner = printer.statements(body)
    if not body.statements or not isinstance(body.statements[-1], bound.Return):
        inner = f"{inner}\nreturn null;" if inner else "return null;"
    return "{\n" + indent(inner) + "}"


def _sql_node(printer: _Printer, node: bound.SqlNode) -> str:
    fields = [f"{literal(name)}: {_sql_value(printer, value)}" for name, value in node.fields]
    return "{" + ", ".join([f'"__hx_ast": {literal(node.kind)}', *fields]) + "}"


def _sql_value(printer: _Printer, value: bound.SqlValue) -> str:
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


# --- statements


def _expression_statement(printer: _Printer, node: bound.ExpressionStatement) -> str:
    text = printer.expression(node.expression)
    return f"({text});" if text.startswith("{") else f"{text};"


def _value_or_null(printer: _Printer, node: bound.Expression | None) -> str:
    return "null" if node is None else printer.expression(node)


def _declare(printer: _Printer, node: bound.Declare) -> str:
    if not node.recursive:
        value = _value_or_null(printer, node.value)
        return f"let {printer.names.declare(node.variable)} = {value};"
    name = printer.names.declare(node.variable)
    value = _value_or_null(printer, node.value)
    if not node.early:
        return f"let {name} = {value};"
    # one declaration, so that it also fits the head of a `for`
    return f"let {name} = null, {printer.temporary('value')} = ({name} = {value});"


def _declare_function(printer: _Printer, node: bound.DeclareFunction) -> str:
    name = printer.names.declare(node.variable)
    function = node.function
    count = printer.names.count()
    parameters = ", ".join([printer.names.declare(variable) for variable in function.parameters])
    body = _function_body(printer, function.body)
    printer.names.end(count)
    return f"function {name}({parameters}) {body}"


def _assign_variable(printer: _Printer, node: bound.AssignVariable) -> str:
    return f"{printer.names[node.variable]} = {printer.expression(node.value)};"


def _assign_property(printer: _Printer, node: bound.AssignProperty) -> str:
    parts = [printer.expression(part) for part in (node.target, node.key, node.value)]
    return printer.call("__setProperty", *parts) + ";"


def _return(printer: _Printer, node: bound.Return) -> str:
    return f"return {_value_or_null(printer, node.value)};"


def _throw(printer: _Printer, node: bound.Throw) -> str:
    return f"throw {printer.expression(node.value)};"


def _if(printer: _Printer, node: bound.If) -> str:
    text = f"if ({printer.expression(node.condition)}) {printer.braced(node.then)}"
    if node.otherwise is None:
        return text
    if isinstance(node.otherwise, bound.If):
        return f"{text} else {printer.statement(node.otherwise)}"
    return f"{text} else {printer.braced(node.otherwise)}"


def _while(printer: _Printer, node: bound.While) -> str:
    return f"while ({printer.expression(node.condition)}) {printer.braced(node.body)}"


def _for(printer: _Printer, node: bound.For) -> str:
    count = printer.names.count()
    head = "" if node.initializer is None else printer.statement(node.initializer).rstrip(";")
    condition = "" if node.condition is None else printer.expression(node.condition)
    step = "" if node.step is None else printer.statement(node.step).rstrip(";")
    body = printer.braced(node.body)
    printer.names.end(count)
    return f"for ({head}; {condition}; {step}) {body}"


def _for_in(printer: _Printer, node: bound.ForIn) -> str:
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
    printer: _Printer, node: bound.ForIn, key_variable: bound.Variable, collection: str
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


def _try(printer: _Printer, node: bound.Try) -> str:
    body = printer.braced(node.body)
    return f"try {body} catch (__error) {{\n{indent(_catches(printer, node, node.catches))}}}"


def _catches(printer: _Printer, node: bound.Try, catches: tuple[bound.Catch, ...]) -> str:
    if not catches:
        return "{ throw __error; }"
    clause = catches[0]
    body = "{\n" + indent(_catch_body(printer, node, clause)) + "}"
    if clause.type_name is None:
        return body
    test = f"if (__error.type === {literal(clause.type_name)})"
    return f"{test} {body} else {_catches(printer, node, catches[1:])}"


def _catch_body(printer: _Printer, node: bound.Try, clause: bound.Catch) -> str:
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


def _block(printer: _Printer, node: bound.Block) -> str:
    return printer.braced(node)


_EXPRESSIONS: dict[type, Callable[[_Printer, Any], str]] = {
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
_STATEMENTS: dict[type, Callable[[_Printer, Any], str]] = {
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
