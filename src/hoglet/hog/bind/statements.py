"""Binding of statements and programs.

Source: docs/spec/hog-language.md#2-statements, docs/spec/hog-language.md#6-scopes-closures-calls
and docs/spec/hog-language.md#12-bytecode.
"""

from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.bind.binder import Bind, Binder, finish_function
from hoglet.syntax import tree

_BAD_TARGET = "Can not assign to this type of expression"


def bind_root(binder: Binder, program: tree.Program) -> bound.BoundFunction:
    """The program as a function without parameters."""
    frame = binder.scopes.frame
    statements = _statements(binder, program.declarations)
    body = bound.Block(statements=statements, ends=frame.end_above(0))
    return finish_function(frame, program, name="root", body=body, parameters=0)


def _statements(binder: Binder, nodes: tuple[Any, ...]) -> tuple[bound.Statement, ...]:
    return tuple([binder.statement(node) for node in nodes])


def _block(binder: Binder, node: tree.Block) -> bound.Block:
    binder.scopes.frame.open_scope()
    statements = _statements(binder, node.declarations)
    ends = binder.scopes.frame.close_scope()
    return bound.Block(statements=statements, ends=ends, start=node.start, end=node.end)


def _body(binder: Binder, node: tree.Statement | None) -> bound.Statement:
    """A branch or loop body; without braces it still gets a scope if it declares something."""
    if node is None:
        return bound.Block(statements=(), ends=())
    if isinstance(node, tree.VariableDeclaration | tree.Function):
        return _block(binder, tree.Block(declarations=(node,), start=node.start, end=node.end))
    return binder.statement(node)


def _expression_statement(binder: Binder, node: tree.ExprStatement) -> bound.Statement:
    if node.expr is None:
        return bound.Block(statements=(), ends=(), start=node.start, end=node.end)
    expression = binder.expression(node.expr)
    if isinstance(node.expr, tree.CompareOperation) and node.expr.op == "==":
        binder.diagnostics.warning(
            "This compares and drops the result; `:=` assigns", node.start, node.end
        )
    return bound.ExpressionStatement(expression=expression, start=node.start, end=node.end)


def _declaration(binder: Binder, node: tree.VariableDeclaration) -> bound.Statement:
    frame = binder.scopes.frame
    variable = binder.declare(node.name, node)
    if node.expr is None:
        return bound.Declare(variable=variable, value=None, start=node.start, end=node.end)
    calls = frame.calls
    with frame.initializing(variable):
        value = binder.expression(node.expr)
    return bound.Declare(
        variable=variable,
        value=value,
        recursive=variable.captured,
        early=variable.captured and frame.calls > calls,
        start=node.start,
        end=node.end,
    )


def _function(binder: Binder, node: tree.Function) -> bound.Statement:
    variable = binder.declare(node.name, node)
    with binder.scopes.function() as frame:
        for name in node.params:
            binder.declare(name, node)
        body = node.body
        inner = body.declarations if isinstance(body, tree.Block) else (body,) if body else ()
        statements = _statements(binder, inner)
        block = bound.Block(statements=statements, ends=frame.end_above(len(node.params)))
        function = finish_function(
            frame, node, name=node.name, body=block, parameters=len(node.params)
        )
    binder.add_function(function)
    return bound.DeclareFunction(
        variable=variable, function=function, start=node.start, end=node.end
    )


# --- assignment


def _assignment(binder: Binder, node: tree.VariableAssignment) -> bound.Statement:
    left = node.left
    if isinstance(left, tree.Field):
        return _assign_field(binder, node, left)
    if isinstance(left, tree.ArrayAccess):
        target = binder.expression(left.array)
        return _assign_property(binder, node, target, binder.expression(left.property))
    if isinstance(left, tree.TupleAccess):
        target = binder.expression(left.tuple)
        return _assign_property(binder, node, target, bound.Constant(value=left.index))
    binder.refuse(node, _BAD_TARGET)
    return _empty(node)


def _assign_field(
    binder: Binder, node: tree.VariableAssignment, left: tree.Field
) -> bound.Statement:
    name = str(left.chain[0])
    resolved = binder.scopes.resolve(name)
    if resolved is None:
        binder.expression(node.right)
        message = f'Variable "{name}" not declared in this scope. Can not assign to globals.'
        declare = f"`let {name} := ...` declares it"
        if len(left.chain) > 1:
            declare = f"`let copy := {name}` makes a copy that you can change"
        near = binder.nearest(name, variables_only=True)
        binder.refuse(node, message, hint=near or declare)
        return _empty(node)
    variable, outer = resolved
    if len(left.chain) == 1:
        value = binder.expression(node.right)
        variable.assigned = True
        return bound.AssignVariable(
            variable=variable, outer=outer, value=value, start=node.start, end=node.end
        )
    path = tree.Field(chain=left.chain[:-1], start=left.start, end=left.end)
    key = bound.Constant(value=left.chain[-1])
    return _assign_property(binder, node, binder.expression(path), key)


def _assign_property(
    binder: Binder,
    node: tree.VariableAssignment,
    target: bound.Expression,
    key: bound.Expression,
) -> bound.Statement:
    return bound.AssignProperty(
        target=target,
        key=key,
        value=binder.expression(node.right),
        start=node.start,
        end=node.end,
    )


def _empty(node: tree.Node) -> bound.Block:
    return bound.Block(statements=(), ends=(), start=node.start, end=node.end)


# --- control


def _return(binder: Binder, node: tree.ReturnStatement) -> bound.Statement:
    binder.scopes.frame.has_return = True
    value = None if node.expr is None else binder.expression(node.expr)
    return bound.Return(value=value, start=node.start, end=node.end)


def _throw(binder: Binder, node: tree.ThrowStatement) -> bound.Statement:
    return bound.Throw(value=binder.expression(node.expr), start=node.start, end=node.end)


def _if(binder: Binder, node: tree.IfStatement) -> bound.Statement:
    return bound.If(
        condition=binder.expression(node.expr),
        then=_body(binder, node.then),
        otherwise=None if node.else_ is None else _body(binder, node.else_),
        start=node.start,
        end=node.end,
    )


def _while(binder: Binder, node: tree.WhileStatement) -> bound.Statement:
    condition = binder.expression(node.expr)
    body = _body(binder, node.body)
    return bound.While(condition=condition, body=body, start=node.start, end=node.end)


def _for(binder: Binder, node: tree.ForStatement) -> bound.Statement:
    frame = binder.scopes.frame
    frame.open_scope()
    initializer = _for_part(binder, node.initializer)
    condition = None if node.condition is None else binder.expression(node.condition)
    step = _for_part(binder, node.increment)
    body = _body(binder, node.body)
    return bound.For(
        initializer=initializer,
        condition=condition,
        step=step,
        body=body,
        ends=frame.close_scope(),
        start=node.start,
        end=node.end,
    )


def _for_part(binder: Binder, node: Any) -> bound.Statement | None:
    if node is None:
        return None
    if type(node) in STATEMENTS:
        return binder.statement(node)
    return bound.ExpressionStatement(
        expression=binder.expression(node), start=node.start, end=node.end
    )


def _for_in(binder: Binder, node: tree.ForInStatement) -> bound.Statement:
    frame = binder.scopes.frame
    collection = binder.expression(node.expr)
    frame.open_scope()
    names = ["expr", "keys", "values", "index", "limit"]
    if node.keyVar is None:
        names.remove("keys")
    hidden = tuple([frame.declare(f"__H_{name}_H__", node.start, hidden=True) for name in names])
    key = None if node.keyVar is None else binder.declare(node.keyVar, node)
    value = binder.declare(node.valueVar, node)
    body = _body(binder, node.body)
    return bound.ForIn(
        key=key,
        value=value,
        collection=collection,
        body=body,
        hidden=hidden,
        ends=frame.close_scope(),
        start=node.start,
        end=node.end,
    )


def _try(binder: Binder, node: tree.TryCatchStatement) -> bound.Statement:
    if node.finally_stmt is not None:
        binder.refuse(node.finally_stmt, "finally blocks are not yet supported")
    elif not node.catches:
        binder.refuse(node, "try statement must have at least one catch block")
    frame = binder.scopes.frame
    body = binder.statement(node.try_stmt)
    frame.open_scope()
    error = frame.declare("e", node.start)
    error_type = frame.declare("type", node.start)
    catches = tuple([_catch(binder, error, *clause) for clause in node.catches])
    return bound.Try(
        body=body,
        error=error,
        error_type=error_type,
        catches=catches,
        ends=frame.close_scope(),
        start=node.start,
        end=node.end,
    )


def _catch(
    binder: Binder, error: bound.Variable, name: str | None, type_name: str | None, body: Any
) -> bound.Catch:
    frame = binder.scopes.frame
    height = frame.height()
    variable = error if name in {None, "e"} else binder.declare(str(name), body)
    statements = _statements(binder, body.declarations)
    ends = frame.end_above(height)
    inner = ends if variable is error else ends[:-1]
    block = bound.Block(statements=statements, ends=inner, start=body.start, end=body.end)
    return bound.Catch(
        type_name=None if type_name == "Error" else type_name,
        variable=variable,
        body=block,
        ends=() if variable is error else (variable,),
        start=body.start,
        end=body.end,
    )


STATEMENTS: dict[type, Bind] = {
    tree.VariableDeclaration: _declaration,
    tree.VariableAssignment: _assignment,
    tree.ExprStatement: _expression_statement,
    tree.ReturnStatement: _return,
    tree.ThrowStatement: _throw,
    tree.IfStatement: _if,
    tree.WhileStatement: _while,
    tree.ForStatement: _for,
    tree.ForInStatement: _for_in,
    tree.TryCatchStatement: _try,
    tree.Function: _function,
    tree.Block: _block,
}
