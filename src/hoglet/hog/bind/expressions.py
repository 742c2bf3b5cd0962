"""Binding of expressions.

Source: docs/spec/hog-language.md#2-statements,
docs/spec/hog-language.md#3-operators-loosest-first,
docs/spec/hog-language.md#5-semantics-of-operators and docs/spec/hog-language.md#12-bytecode.
"""

from collections.abc import Callable
from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.bind.binder import Bind, Binder, finish_function
from hoglet.hog.bind.sql import bind_sql, constant_value
from hoglet.syntax import tree

_QUERY_ONLY = "{} is only allowed inside sql(...)"
_COMPARISONS = frozenset(
    ["==", "!=", "<", "<=", ">", ">=", "like", "ilike", "not like", "not ilike",
     "in", "not in", "=~", "!~", "=~*", "!~*"]
)  # fmt: skip


def _constant(_: Binder, node: tree.Constant) -> bound.Constant:
    return bound.Constant(value=constant_value(node), start=node.start, end=node.end)


def _field(binder: Binder, node: tree.Field) -> bound.Expression:
    resolved = binder.scopes.resolve(str(node.chain[0]))
    if resolved is None:
        return binder.read_global(node, node.chain)
    variable, outer = resolved
    variable.used = True
    value: bound.Expression = bound.ReadVariable(
        variable=variable, outer=outer, start=node.start, end=node.end
    )
    for name in node.chain[1:]:
        key = bound.Constant(value=name)
        value = bound.GetProperty(
            target=value, key=key, dotted=True, start=node.start, end=node.end
        )
    return value


def _array_access(binder: Binder, node: tree.ArrayAccess) -> bound.Expression:
    target = binder.expression(node.array)
    key = binder.expression(node.property)
    if isinstance(key, bound.Constant):
        _check_index(binder, node, key.value)
    return bound.GetProperty(
        target=target, key=key, nullish=node.nullish, start=node.start, end=node.end
    )


def _tuple_access(binder: Binder, node: tree.TupleAccess) -> bound.Expression:
    _check_index(binder, node, node.index)
    return bound.GetProperty(
        target=binder.expression(node.tuple),
        key=bound.Constant(value=node.index),
        nullish=node.nullish,
        start=node.start,
        end=node.end,
    )


def _check_index(binder: Binder, node: tree.Node, index: bound.Scalar) -> None:
    if index == 0 and not isinstance(index, bool):
        binder.refuse(node, "Array access starts from 1")


def _call(binder: Binder, node: tree.Call) -> bound.Expression:
    if node.name == "sql":
        return _sql_call(binder, node)
    if node.distinct or node.order_by or node.within_group or node.filter_expr:
        return binder.refuse(node, _QUERY_ONLY.format("An aggregate with DISTINCT or ORDER BY"))
    if node.params is not None:
        callee = binder.expression(
            tree.Call(name=node.name, args=node.params, start=node.start, end=node.end)
        )
        return _call_value(binder, node, callee, node.args)
    special = _SPECIAL_CALLS.get(node.name)
    if special is not None:
        result = special(binder, node)
        if result is not None:
            return result
    return _plain_call(binder, node)


def _plain_call(binder: Binder, node: tree.Call) -> bound.Expression:
    resolved = binder.scopes.resolve(node.name)
    if resolved is None:
        return binder.call_global(node, node.name, binder.expressions(node.args))
    variable, outer = resolved
    variable.used = True
    callee = bound.ReadVariable(variable=variable, outer=outer, start=node.start, end=node.end)
    return _call_value(binder, node, callee, node.args)


def _call_value(
    binder: Binder,
    node: tree.Node,
    callee: bound.Expression,
    arguments: tuple[tree.Expression, ...],
) -> bound.CallValue:
    binder.scopes.frame.calls += 1
    return bound.CallValue(
        callee=callee, arguments=binder.expressions(arguments), start=node.start, end=node.end
    )


def _expression_call(binder: Binder, node: tree.ExprCall) -> bound.Expression:
    return _call_value(binder, node, binder.expression(node.expr), node.args)


def _sql_call(binder: Binder, node: tree.Call) -> bound.Expression:
    if len(node.args) != 1:
        return binder.refuse(node, "sql(...) takes exactly one expression")
    return bind_sql(binder, node.args[0])


# --- calls that are operators; None falls through to an ordinary call


def _call_not(binder: Binder, node: tree.Call) -> bound.Expression | None:
    if len(node.args) != 1:
        return None
    return bound.Not(operand=binder.expression(node.args[0]), start=node.start, end=node.end)


def _call_and(binder: Binder, node: tree.Call) -> bound.Expression | None:
    if len(node.args) < 2:
        return None
    return bound.And(operands=binder.expressions(node.args), start=node.start, end=node.end)


def _call_or(binder: Binder, node: tree.Call) -> bound.Expression | None:
    if len(node.args) < 2:
        return None
    return bound.Or(operands=binder.expressions(node.args), start=node.start, end=node.end)


def _call_if_null(binder: Binder, node: tree.Call) -> bound.Expression | None:
    if len(node.args) != 2:
        return None
    value, fallback = binder.expressions(node.args)
    return bound.IfNull(value=value, fallback=fallback, start=node.start, end=node.end)


def _call_if(binder: Binder, node: tree.Call) -> bound.Expression | None:
    if len(node.args) not in {2, 3}:
        return None
    return _conditional(binder, node)


def _call_multi_if(binder: Binder, node: tree.Call) -> bound.Expression | None:
    if len(node.args) < 2:
        return None
    return _conditional(binder, node)


def _conditional(binder: Binder, node: tree.Call) -> bound.Expression:
    parts = binder.expressions(node.args)
    has_default = len(parts) % 2 == 1
    result: bound.Expression = parts[-1] if has_default else bound.Constant(value=None)
    pairs = parts[:-1] if has_default else parts
    for index in range(len(pairs) - 2, -1, -2):
        result = bound.Conditional(
            condition=pairs[index],
            then=pairs[index + 1],
            otherwise=result,
            start=node.start,
            end=node.end,
        )
    return result


_SPECIAL_CALLS: dict[str, Callable[[Binder, tree.Call], bound.Expression | None]] = {
    "not": _call_not,
    "and": _call_and,
    "or": _call_or,
    "ifNull": _call_if_null,
    "if": _call_if,
    "multiIf": _call_multi_if,
}


# --- operators


def _and(binder: Binder, node: tree.And) -> bound.Expression:
    return bound.And(operands=binder.expressions(node.exprs), start=node.start, end=node.end)


def _or(binder: Binder, node: tree.Or) -> bound.Expression:
    return bound.Or(operands=binder.expressions(node.exprs), start=node.start, end=node.end)


def _not(binder: Binder, node: tree.Not) -> bound.Expression:
    return bound.Not(operand=binder.expression(node.expr), start=node.start, end=node.end)


def _between(binder: Binder, node: tree.BetweenExpr) -> bound.Expression:
    return bound.Between(
        value=binder.expression(node.expr),
        low=binder.expression(node.low),
        high=binder.expression(node.high),
        negated=node.negated,
        start=node.start,
        end=node.end,
    )


def _binary(
    binder: Binder, node: tree.ArithmeticOperation | tree.CompareOperation
) -> bound.Expression:
    """Bind a left-deep chain without recursion: ``a + b + ...`` can have hundreds of operands."""
    spine: list[tree.ArithmeticOperation | tree.CompareOperation] = []
    current: tree.Expression = node
    while isinstance(current, tree.ArithmeticOperation | tree.CompareOperation):
        spine.append(current)
        current = current.left
    result = binder.expression(current)
    for operation in reversed(spine):
        right = binder.expression(operation.right)
        if isinstance(operation, tree.ArithmeticOperation):
            result = _arithmetic(operation, result, right)
        else:
            result = _compare(binder, operation, result, right)
    return result


def _arithmetic(
    node: tree.ArithmeticOperation, left: bound.Expression, right: bound.Expression
) -> bound.Expression:
    operator: Any = node.op
    return bound.Arithmetic(
        operator=operator, left=left, right=right, start=node.start, end=node.end
    )


def _compare(
    binder: Binder,
    node: tree.CompareOperation,
    left: bound.Expression,
    right: bound.Expression,
) -> bound.Expression:
    operator: Any = node.op
    if "cohort" in node.op:
        return _refuse_cohort(binder, node)
    if operator not in _COMPARISONS:
        return binder.refuse(node, _QUERY_ONLY.format(f"The operator `{node.op}`"))
    return bound.Compare(operator=operator, left=left, right=right, start=node.start, end=node.end)


def _refuse_cohort(binder: Binder, node: tree.CompareOperation) -> bound.Expression:
    cohort = node.right.value if isinstance(node.right, tree.Constant) else None
    named = f" {cohort!r}" if cohort is not None else ""
    return binder.refuse(
        node,
        f"Can not use cohort{named} here: cohorts have to be written out as conditions on "
        "person properties",
    )


# --- values


def _array(binder: Binder, node: tree.Array) -> bound.Expression:
    return bound.MakeArray(items=binder.expressions(node.exprs), start=node.start, end=node.end)


def _tuple(binder: Binder, node: tree.Tuple) -> bound.Expression:
    return bound.MakeTuple(items=binder.expressions(node.exprs), start=node.start, end=node.end)


def _dict(binder: Binder, node: tree.Dict) -> bound.Expression:
    items = tuple([(binder.expression(key), binder.expression(value)) for key, value in node.items])
    return bound.MakeObject(items=items, start=node.start, end=node.end)


def _tag(binder: Binder, node: tree.HogQLXTag) -> bound.Expression:
    items = [
        (bound.Constant(value=attribute.name), _attribute_value(binder, attribute))
        for attribute in node.attributes
    ]
    resolved = binder.scopes.resolve(node.kind)
    if resolved is None:
        kind = (bound.Constant(value="__hx_tag"), bound.Constant(value=node.kind))
        return bound.MakeObject(items=(kind, *items), start=node.start, end=node.end)
    variable, outer = resolved
    variable.used = True
    binder.scopes.frame.calls += 1
    return bound.CallValue(
        callee=bound.ReadVariable(variable=variable, outer=outer, start=node.start, end=node.end),
        arguments=(bound.MakeObject(items=tuple(items), start=node.start, end=node.end),),
        start=node.start,
        end=node.end,
    )


def _attribute_value(binder: Binder, attribute: tree.HogQLXAttribute) -> bound.Expression:
    if isinstance(attribute.value, tuple):
        return bound.MakeArray(items=binder.expressions(attribute.value), start=attribute.start)
    return binder.expression(attribute.value)


def _lambda(binder: Binder, node: tree.Lambda) -> bound.Expression:
    with binder.scopes.function() as frame:
        for name in node.args:
            binder.declare(name, node)
        statements = _lambda_statements(binder, node)
        body = bound.Block(statements=statements, ends=frame.end_above(len(node.args)))
        function = finish_function(frame, node, name="lambda", body=body, parameters=len(node.args))
    binder.add_function(function)
    return bound.MakeFunction(function=function, start=node.start, end=node.end)


def _lambda_statements(binder: Binder, node: tree.Lambda) -> tuple[bound.Statement, ...]:
    body = node.expr
    if isinstance(body, tree.Block):
        return tuple([binder.statement(statement) for statement in body.declarations])
    if isinstance(body, tree.Placeholder):
        return (_braced_body(binder, body),)
    binder.scopes.frame.has_return = True
    value = binder.expression(body)
    return (bound.Return(value=value, start=node.start, end=node.end),)


def _braced_body(binder: Binder, body: tree.Placeholder) -> bound.Statement:
    inner = body.expr
    if isinstance(inner, tree.NamedArgument):
        field = tree.Field(chain=(inner.name,), start=body.start, end=body.end)
        return binder.statement(
            tree.VariableAssignment(left=field, right=inner.value, start=body.start, end=body.end)
        )
    return bound.ExpressionStatement(
        expression=binder.expression(inner), start=body.start, end=body.end
    )


# --- refused outside sql(...)


def _placeholder(binder: Binder, node: tree.Placeholder) -> bound.Expression:
    return binder.refuse(node, "Placeholders are not allowed in this context")


def _named_argument(binder: Binder, node: tree.NamedArgument) -> bound.Expression:
    value = node.value if node.start is None else node
    return binder.refuse(value, f"`{node.name} := ...` is a statement and has no value")


def _query(binder: Binder, node: tree.SelectQuery | tree.SelectSetQuery) -> bound.Expression:
    return bind_sql(binder, node)


def _refused(what: str) -> Bind:
    return lambda binder, node: binder.refuse(node, _QUERY_ONLY.format(what))


EXPRESSIONS: dict[type, Bind] = {
    tree.Constant: _constant,
    tree.Field: _field,
    tree.ArrayAccess: _array_access,
    tree.TupleAccess: _tuple_access,
    tree.Call: _call,
    tree.ExprCall: _expression_call,
    tree.And: _and,
    tree.Or: _or,
    tree.Not: _not,
    tree.BetweenExpr: _between,
    tree.CompareOperation: _binary,
    tree.ArithmeticOperation: _binary,
    tree.Array: _array,
    tree.Tuple: _tuple,
    tree.Dict: _dict,
    tree.HogQLXTag: _tag,
    tree.Lambda: _lambda,
    tree.Placeholder: _placeholder,
    tree.NamedArgument: _named_argument,
    tree.SelectQuery: _query,
    tree.SelectSetQuery: _query,
    tree.Alias: _refused("An alias (`as`)"),
    tree.TypeCast: _refused("A type cast"),
    tree.TryCast: _refused("A type cast"),
    tree.ArraySlice: _refused("A slice"),
    tree.IsDistinctFrom: _refused("`is distinct from`"),
    tree.ColumnsExpr: _refused("A column list"),
    tree.WindowFunction: _refused("A window function"),
}
