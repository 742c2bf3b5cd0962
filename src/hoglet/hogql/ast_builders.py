"""Constructors of syntax trees, for filters and insight queries."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from hoglet.kit.errors import Bug
from hoglet.syntax import tree

type Expression = tree.Expression


def constant(value: Any) -> tree.Constant:
    """A literal."""
    return tree.Constant(value=value)


TRUE = constant(True)


def field(*chain: str | int) -> tree.Field:
    """A name or a path of names."""
    return tree.Field(chain=chain)


def call(name: str, *args: Expression, params: Sequence[Expression] | None = None) -> tree.Call:
    """A function call."""
    return tree.Call(name=name, args=args, params=tuple(params) if params is not None else None)


def compare(operator: str, left: Expression, right: Expression) -> tree.CompareOperation:
    """``left operator right``."""
    return tree.CompareOperation(left=left, right=right, op=operator)


def alias(name: str, expr: Expression) -> tree.Alias:
    """``expr AS name``."""
    return tree.Alias(expr=expr, alias=name)


def every(items: Sequence[Expression]) -> Expression:
    """AND of the items; true if there are none."""
    if not items:
        return constant(True)
    return items[0] if len(items) == 1 else tree.And(exprs=tuple(items))


def some(items: Sequence[Expression]) -> Expression:
    """OR of the items; false if there are none."""
    if not items:
        return constant(False)
    return items[0] if len(items) == 1 else tree.Or(exprs=tuple(items))


def negated(item: Expression) -> tree.Not:
    """``NOT item``."""
    return tree.Not(expr=item)


def array(items: Sequence[Any]) -> tree.Array:
    """A list of literals."""
    return tree.Array(exprs=tuple(constant(item) for item in items))


def walk(node: Any) -> Iterator[tree.Node]:
    """A node and all its descendants, outermost first."""
    if isinstance(node, tree.Node):
        yield node
        for name in node.__struct_fields__:
            if name not in {"start", "end"}:
                yield from walk(getattr(node, name))
    elif isinstance(node, tuple):
        for item in node:
            yield from walk(item)
    elif isinstance(node, dict):
        for item in node.values():
            yield from walk(item)


def same(left: Any, right: Any) -> bool:
    """Whether two trees are equal, ignoring positions."""
    if type(left) is not type(right):
        return False
    if isinstance(left, tree.Node):
        names = (name for name in left.__struct_fields__ if name not in {"start", "end"})
        return all(same(getattr(left, name), getattr(right, name)) for name in names)
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def changed[T: msgspec.Struct](node: T, **fields: Any) -> T:
    """A copy of a node with some fields changed."""
    return msgspec.structs.replace(node, **fields)


@lru_cache(maxsize=64)
def _parsed(template: str) -> Any:
    from hoglet.syntax.parse import parse_query  # servers build trees, but never parse

    return parse_query(template)


def fill(template: str, **parts: Any) -> Any:
    """Fill a query template with trees.

    ``fill("SELECT {value} FROM events WHERE {where}", value=call("count"), where=condition)``. A
    tuple of trees expands into a list. Templates never contain user input.
    """
    return _filled(_parsed(template), parts)


def _filled(node: Any, parts: Mapping[str, Any]) -> Any:
    if isinstance(node, tree.Placeholder):
        name = node.expr.chain[0] if isinstance(node.expr, tree.Field) else ""
        if name not in parts:
            raise Bug(f"template placeholder {name!r} is not filled")
        return parts[str(name)]
    if isinstance(node, tree.Node):
        names = (name for name in node.__struct_fields__ if name not in {"start", "end"})
        filled = {name: _filled(getattr(node, name), parts) for name in names}
        return msgspec.structs.replace(node, start=None, end=None, **filled)
    if isinstance(node, tuple):
        spliced: list[Any] = []
        for item in node:
            inner = _filled(item, parts)
            many = isinstance(item, tree.Placeholder) and isinstance(inner, tuple)
            spliced += inner if many else [inner]
        return tuple(spliced)
    if isinstance(node, dict):
        return {key: _filled(value, parts) for key, value in node.items()}
    return node
