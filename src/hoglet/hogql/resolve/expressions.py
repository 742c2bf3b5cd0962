"""Expressions other than comparisons and calls."""

import math
import re
from collections.abc import Iterable
from typing import Any

from hoglet.hogql import types
from hoglet.hogql.errors import in_expression, near, refused
from hoglet.hogql.frontend.preprocess import read_expression
from hoglet.hogql.functions.datetime_zone import difference, moved, units_of
from hoglet.hogql.functions.registry import widest
from hoglet.hogql.plan import (
    Expr,
    FunctionCall,
    LambdaExpr,
    Number,
    TrustedSQL,
    Value,
)
from hoglet.hogql.resolve.operands.conditions import as_condition
from hoglet.hogql.resolve.resolver import Resolver
from hoglet.hogql.resolve.scope import Scope
from hoglet.hogql.resolve.sources import part_position
from hoglet.hogql.types import BOOLEAN, FLOAT, INTEGER, NULL, STRING, Type
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree

_INT64 = 2**63
_WHOLE = re.compile(r"\d+")

_BOUND_TOGETHER = 8
"""Longer lists of strings become one parameter; shorter ones stay readable in the SQL."""


def constant(value: Any, node: Any = None) -> Expr:
    """The plan of a Python value: strings are bound, numbers and booleans are literals."""
    if value is None:
        return Number(text="NULL", type=NULL)
    if isinstance(value, bool):
        return Number(text="true" if value else "false", type=BOOLEAN)
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        text = repr(value) if math.isfinite(value) else f"CAST('{value}', 'Float64')"
        return Number(text=text, type=FLOAT)
    if isinstance(value, str):
        return Value(value=value, bind="String", type=STRING)
    raise refused(f"A constant of type {type(value).__name__} is not supported", node)


def _integer(value: int) -> Expr:
    if -_INT64 <= value < 2 * _INT64:
        return Number(text=str(value), type=INTEGER)
    return Number(text=repr(float(value)), type=FLOAT)


def resolve_constant(_resolver: Resolver, node: tree.Constant, _scope: Scope) -> Expr:
    """A literal."""
    if node.value_type == "number":
        text = str(node.value).strip().lower()
        try:
            if text.startswith("0x"):
                return constant(int(text, 16), node)
            return constant(int(text) if text.lstrip("+-").isdigit() else float(text), node)
        except ValueError:
            raise refused(f"Not a number: {node.value}", node) from None
    return constant(node.value, node)


def resolve_field(resolver: Resolver, node: tree.Field, scope: Scope) -> Expr:
    """A column, an alias, a lambda argument or a CTE expression."""
    chain = node.chain
    if chain[-1] == "*":
        raise refused("'*' is only allowed as a column of SELECT and in count(*)", node)
    first = str(chain[0])
    macro = scope.macro(first) if scope.lambda_argument(first) is None else None
    if macro is not None and first not in scope.aliases:
        return _expand_macro(resolver, macro, node, scope)
    if len(chain) == 1 and not scope.aliases.get(first) and first.lower() in {"true", "false"}:
        return constant(first.lower() == "true")
    if len(chain) == 1 and first.lower() in _WITHOUT_BRACKETS and not scope.knows(first):
        call = tree.Call(name=first.lower(), start=node.start, end=node.end)
        return resolver.expression(call, scope)
    return scope.resolve(chain, node)


_WITHOUT_BRACKETS = frozenset({"current_date", "current_timestamp"})
"""Functions that standard SQL writes without parentheses."""


def _expand_macro(resolver: Resolver, macro: tree.CTE, node: tree.Field, scope: Scope) -> Expr:
    if len(node.chain) > 1:
        raise refused(f"'{macro.name}' is an expression and has no fields", node)
    if macro.name in scope.open_macros:
        raise refused(f"'{macro.name}' refers to itself", node)
    scope.open_macros.add(macro.name)
    resolved = resolver.expression(macro.expr, scope)
    scope.open_macros.discard(macro.name)
    return resolved


def resolve_alias(resolver: Resolver, node: tree.Alias, scope: Scope) -> Expr:
    """``expr AS name`` inside an expression: declares the name."""
    resolved = resolver.expression(node.expr, scope)
    scope.macros.setdefault(
        node.alias, tree.CTE(name=node.alias, expr=node.expr, cte_type="column")
    )
    return resolved


def resolve_and(resolver: Resolver, node: tree.And, scope: Scope) -> Expr:
    """An AND chain."""
    return _logical("and", resolver.expressions(node.exprs, scope))


def resolve_or(resolver: Resolver, node: tree.Or, scope: Scope) -> Expr:
    """An OR chain."""
    return _logical("or", resolver.expressions(node.exprs, scope))


def _logical(function: str, args: tuple[Expr, ...]) -> Expr:
    if len(args) == 1:
        return args[0]
    nullable = any(arg.type.nullable for arg in args)
    args = tuple(map(as_condition, args))
    return FunctionCall(function=function, args=args, type=BOOLEAN.or_null(nullable))


def resolve_not(resolver: Resolver, node: tree.Not, scope: Scope) -> Expr:
    """``NOT expr``."""
    inner = as_condition(resolver.expression(node.expr, scope))
    return FunctionCall(function="not", args=(inner,), type=BOOLEAN.or_null(inner.type.nullable))


_ARITHMETIC = {"+": "plus", "-": "minus", "*": "multiply", "/": "divide", "%": "modulo"}


def resolve_arithmetic(resolver: Resolver, node: tree.ArithmeticOperation, scope: Scope) -> Expr:
    """``left op right``; the parser's ``0 - x`` for ``-x`` becomes a negation."""
    left = resolver.expression(node.left, scope)
    right = resolver.expression(node.right, scope)
    if node.op not in _ARITHMETIC:
        raise refused(f"Operator {node.op} is not supported in queries", node)
    is_zero = isinstance(left, Number) and left.text == "0"
    if node.op == "-" and node.left.start is None and is_zero:
        return FunctionCall(function="negate", args=(right,), type=right.type)
    left, right = moved(left, right, resolver.context)
    if node.op == "-" and (apart := difference(left, right, resolver.context)) is not None:
        return apart
    function = _ARITHMETIC[node.op]
    return FunctionCall(
        function=function, args=(left, right), type=_arithmetic_type(node.op, left, right)
    )


def _arithmetic_type(operator: str, left: Expr, right: Expr) -> Type:
    nullable = left.type.nullable or right.type.nullable
    names = {left.type.name, right.type.name}
    if "DateTime" in names and "Interval" in names:
        return types.DATETIME.or_null(nullable)
    if "Date" in names and names & {"Interval", "Integer"}:
        known = "Interval" not in names or units_of(left) or units_of(right)
        return (types.DATE if known else types.UNKNOWN).or_null(nullable)
    if names == {"DateTime", "Integer"}:
        return types.DATETIME.or_null(nullable)
    if operator == "/":
        return FLOAT.or_null(nullable)
    return widest((left.type, right.type))


def resolve_array(resolver: Resolver, node: tree.Array, scope: Scope) -> Expr:
    """``[a, b]``."""
    items = resolver.expressions(node.exprs, scope)
    if len(items) > _BOUND_TOGETHER and all(isinstance(item, Value) for item in items):
        texts = [item.value for item in items if isinstance(item, Value)]
        return Value(value=texts, bind="Array(String)", type=types.STRING_ARRAY)
    item = widest(expr.type for expr in items)
    return FunctionCall(function="array", args=items, type=Type("Array", item=item))


def resolve_dict(resolver: Resolver, node: tree.Dict, scope: Scope) -> Expr:
    """``{'k': v}`` as a map."""
    flat = [part for item in node.items for part in item]
    return FunctionCall(function="map", args=resolver.expressions(flat, scope), type=types.MAP)


def resolve_array_access(resolver: Resolver, node: tree.ArrayAccess, scope: Scope) -> Expr:
    """``array[index]``, ``map['key']`` and ``properties['any key']``."""
    chain = _access_chain(node)
    if chain is not None and _is_path(chain, scope):
        _refuse_bad_positions(chain, node)
        return scope.resolve(chain, node)
    base = resolver.expression(node.array, scope)
    index = resolver.expression(node.property, scope)
    if base.type.name in {"JSON", "String"}:
        _refuse_bad_positions((getattr(node.property, "value", None),), node)
        return _json_access(base, index)
    if base.type.name == "Tuple":
        return _tuple_part(node, base)
    item = base.type.item or types.UNKNOWN
    return FunctionCall(function="arrayElement", args=(base, index), type=item)


def _tuple_part(node: tree.ArrayAccess, base: Expr) -> Expr:
    """``tuple(1 AS a, 2 AS b).b``: a part by its name, or by a position in brackets."""
    part = getattr(node.property, "value", None)
    if isinstance(part, str):
        part = part_position(base.type, part, node)
    if isinstance(part, bool) or not isinstance(part, int):
        raise refused("A part of a tuple is read by its position or name, e.g. .1", node)
    _refuse_bad_positions((part,), node)
    return FunctionCall(function="tupleElement", args=(base, constant(part)), type=types.UNKNOWN)


def _access_chain(node: Any) -> tuple[str | int, ...] | None:
    if isinstance(node, tree.Field):
        return node.chain
    if isinstance(node, tree.TupleAccess):
        base = _access_chain(node.tuple)
        return None if base is None else (*base, node.index)
    if not isinstance(node, tree.ArrayAccess) or not isinstance(node.property, tree.Constant):
        return None
    key = node.property.value
    base = _access_chain(node.array)
    if base is None or isinstance(key, bool) or not isinstance(key, str | int):
        return None
    return (*base, key)


def _refuse_bad_positions(keys: Iterable[Any], node: Any) -> None:
    """Positions in lists and tuples start at 1."""
    for key in keys:
        if isinstance(key, float) or (isinstance(key, int) and key < 1):
            raise refused(f"Positions in lists are integers that start at 1, not {key}", node)


def _is_path(chain: tuple[str | int, ...], scope: Scope) -> bool:
    """Whether the chain goes into a property bag rather than an array or map."""
    first = str(chain[0])
    if first in scope.aliases or scope.lambda_argument(first) is not None:
        return False
    return "properties" in chain[:-1]


def _json_access(base: Expr, index: Expr) -> Expr:
    """A member of JSON text: a number is a position in a list, and a name in an object."""
    if index.type.name not in types.NUMBERS:
        return _json_member(base, index)
    named = _json_member(base, FunctionCall(function="toString", args=(index,), type=types.STRING))
    parts = ("if(JSONType(", base, ") = 'Object', ", named, ", ", _json_member(base, index), ")")
    return TrustedSQL(parts=parts, type=types.NULLABLE_STRING)


def _json_member(base: Expr, index: Expr) -> Expr:
    parts = (
        *("if(JSONType(", base, ", ", index, ") = 'String', JSONExtractString(", base, ", ", index),
        *("), nullIf(nullIf(JSONExtractRaw(", base, ", ", index, "), ''), 'null'))"),
    )
    return TrustedSQL(parts=parts, type=types.NULLABLE_STRING)


def resolve_array_slice(resolver: Resolver, node: tree.ArraySlice, scope: Scope) -> Expr:
    """``array[from:to]``, both inclusive and 1-based."""
    base = resolver.expression(node.array, scope)
    start = resolver.expression(node.start_expr, scope) if node.start_expr else constant(1)
    if node.end_expr is None:
        return FunctionCall(function="arraySlice", args=(base, start), type=base.type)
    end = resolver.expression(node.end_expr, scope)
    parts = ("arraySlice(", base, ", ", start, ", greatest(0, ", end, " - ", start, " + 1))")
    return TrustedSQL(parts=parts, type=base.type)


def resolve_tuple_access(resolver: Resolver, node: tree.TupleAccess, scope: Scope) -> Expr:
    """``tuple.1``; on a property bag it indexes an array."""
    chain = _access_chain(node)
    if chain is not None and _is_path(chain, scope):
        _refuse_bad_positions(chain, node)
        return scope.resolve(chain, node)
    base = resolver.expression(node.tuple, scope)
    _refuse_bad_positions((node.index,), node)
    if base.type.name in {"JSON", "String"}:
        return _json_access(base, constant(node.index))
    return FunctionCall(
        function="tupleElement", args=(base, constant(node.index)), type=types.UNKNOWN
    )


def resolve_lambda(resolver: Resolver, node: tree.Lambda, scope: Scope) -> Expr:
    """``(a, b) -> expr``, as an argument of a function that takes one."""
    if isinstance(node.expr, tree.Block):
        raise refused("A lambda in a query contains one expression", node)
    items, scope.lambda_items = scope.lambda_items, ()
    unknown = dict.fromkeys(node.args, types.UNKNOWN)
    scope.lambdas.append(unknown | dict(zip(node.args, items, strict=False)))
    body = resolver.expression(node.expr, scope)
    scope.lambdas.pop()
    return LambdaExpr(names=node.args, body=body, type=body.type)


def resolve_placeholder(resolver: Resolver, node: tree.Placeholder, scope: Scope) -> Expr:
    """The resolved expansion of ``{variables.x}``, ``{filters}`` or ``{name}``."""
    bound = resolver.binder.expand(node, scope.read_tables)
    if isinstance(bound, tree.Placeholder):
        raise refused("A placeholder cannot expand to a placeholder", node)
    try:
        return resolver.expression(bound, scope)
    except SourceError as error:
        raise _in_filter(resolver, node, scope) or error from None


def _in_filter(resolver: Resolver, node: tree.Placeholder, scope: Scope) -> SourceError | None:
    """The error of the first HogQL expression in ``{filters}`` that does not resolve."""
    for path, text in resolver.binder.filter_expressions(node):
        try:
            resolver.expression(read_expression(text), scope)
        except SourceError as error:
            return in_expression(error, path, text)
    return None


_CASTS: dict[str, str] = {
    **dict.fromkeys(("int", "integer", "bigint", "int64", "smallint", "int8", "int4"), "toInt"),
    **dict.fromkeys(("uint64", "uint32", "int32", "int16"), "toInt"),
    **dict.fromkeys(("float", "double", "real", "float64", "float32", "float8"), "toFloat"),
    **dict.fromkeys(("numeric", "decimal"), "toDecimal"),
    **dict.fromkeys(("string", "text", "varchar", "char"), "toString"),
    **dict.fromkeys(("bool", "boolean"), "toBool"),
    **dict.fromkeys(("datetime", "timestamp", "datetime64", "timestamptz"), "toDateTime"),
    "date": "toDate",
    "uuid": "toUUID",
    "json": "toString",
    "jsonb": "toString",
}


def resolve_expr_call(resolver: Resolver, node: tree.ExprCall, scope: Scope) -> Expr:
    """``x::varchar(10)``, which the parser treats as a call; there is no other."""
    cast = node.expr
    if not isinstance(cast, tree.TypeCast | tree.TryCast):
        raise refused("Only functions can be called, by their names", node)
    if not all(isinstance(arg, tree.Constant) for arg in node.args):
        raise refused(f"Unsupported type in cast: {cast.type_name}(...)", node)
    args = ", ".join(str(getattr(arg, "value", "")) for arg in node.args)
    return cast_to(resolver, cast.expr, f"{cast.type_name}({args})", node, scope)


def resolve_cast(resolver: Resolver, node: Any, scope: Scope) -> Expr:
    """``CAST(x AS type)``, ``x::type``, ``TRY_CAST``: null-safe conversions."""
    return cast_to(resolver, node.expr, node.type_name, node, scope)


def cast_to(resolver: Resolver, expr: Any, name: str, node: Any, scope: Scope) -> Expr:
    """``expr`` converted to the type with that name, e.g. ``Nullable(Int64)``.

    Unlike ``toInt``, a cast to an integer drops the fraction of a number.
    """
    if (container := _container(name)) is not None:
        value = resolver.expression(expr, scope)
        return TrustedSQL(parts=("CAST(", value, f", '{container}')"), type=types.UNKNOWN)
    bare = name.strip().lower().removeprefix("nullable(").strip()
    function = _CASTS.get(bare.split("(")[0].rstrip(") "))
    if function is None:
        hint = near(bare, _CASTS)
        raise refused(f"Unsupported type in cast: {name}{hint and '.' + hint}", node)
    if function == "toInt" and resolver.expression(expr, scope).type.name in _FRACTIONS:
        expr = tree.Call(name="trunc", args=(expr,), start=node.start, end=node.end)
    args = (expr, *_scale(bare)) if function == "toDecimal" else (expr,)
    call = tree.Call(name=function, args=args, start=node.start, end=node.end)
    return resolver.expression(call, scope)


_FRACTIONS = frozenset({"Float", "Decimal"})
_TYPE_WORDS = {
    "date": "Date32",
} | {
    word.lower(): word
    for word in (
        "Array", "Map", "Tuple", "Nullable", "String", "Bool", "UUID", "Int8", "Int16",
        "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64",
    )
}  # fmt: skip
_CONTAINER = re.compile(r"\s*(?:array|map|tuple)\s*\([\w\s(),]+\)\s*", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def _container(name: str) -> str | None:
    """The engine's spelling of ``array(uint8)``, ``Map(String, Int64)`` or a tuple, else None."""
    if _CONTAINER.fullmatch(name) is None:
        return None
    if not all(word.lower() in _TYPE_WORDS for word in _WORD.findall(name)):
        return None
    return _WORD.sub(lambda match: _TYPE_WORDS[match.group().lower()], name.strip())


def _scale(bare: str) -> tuple[tree.Constant, ...]:
    """The scale of ``decimal(10, 2)``; 0 for ``decimal(10)``."""
    numbers = _WHOLE.findall(bare)
    if not numbers:
        return ()
    return (tree.Constant(value=int(numbers[1]) if len(numbers) > 1 else 0),)
