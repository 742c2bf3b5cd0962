"""Generic traversal of bound trees."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec

from hoglet.hog.bind import tree as bound


def _kinds_below(kind: type) -> set[type]:
    return {kind}.union(*[_kinds_below(below) for below in kind.__subclasses__()])


LEAVES = frozenset({bound.Constant, bound.ReadVariable, bound.ReadGlobal, bound.SqlScalar})
"""Kinds of nodes without children."""

_KINDS = frozenset(
    kind
    for base in (bound.Node, bound.SqlList, bound.SqlMap, bound.SqlScalar)
    for kind in _kinds_below(base)
)


def parts(node: Any) -> list[Any]:
    """The direct children of a node, in field order, including functions."""
    children: list[Any] = []
    for name in _fields(type(node)):
        value = getattr(node, name)
        if type(value) is tuple:
            _add(value, children)
        elif type(value) in _KINDS:
            children.append(value)
    return children


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a kind of node that may hold nodes."""
    if kind in LEAVES:
        return ()
    return tuple(
        field.name
        for field in msgspec.structs.fields(kind)
        if field.name not in {"start", "end"} and field.type not in {str, bool, int, bound.Variable}
    )


def _add(items: tuple[Any, ...], children: list[Any]) -> None:
    for item in items:
        if type(item) is tuple:
            _add(item, children)
        elif type(item) in _KINDS:
            children.append(item)


def everything(node: Any, *, into_functions: bool) -> Iterator[Any]:
    """A node and all its descendants, optionally without inner functions."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        below = parts(current)
        if not into_functions:
            below = [part for part in below if type(part) is not bound.BoundFunction]
        waiting += below


def own_nodes(function: bound.BoundFunction) -> Iterator[Any]:
    """All nodes of a function's body, without inner functions."""
    return everything(function.body, into_functions=False)


def declared_by(node: Any) -> tuple[bound.Variable, ...]:
    """The variables a statement declares, without inner statements."""
    match node:
        case bound.Declare() | bound.DeclareFunction():
            return (node.variable,)
        case bound.ForIn():
            return (node.value,) if node.key is None else (node.key, node.value)
        case bound.Try():
            return (node.error, node.error_type, *(clause.variable for clause in node.catches))
        case _:
            return ()


def always_returns(node: Any) -> bool:
    """Whether a statement always ends with a ``return`` or an error."""
    match node:
        case bound.Return() | bound.Throw():
            return True
        case bound.Block():
            return any(always_returns(statement) for statement in node.statements)
        case bound.If():
            return (
                node.otherwise is not None
                and always_returns(node.then)
                and always_returns(node.otherwise)
            )
        case _:
            return False
