"""Short ways to build syntax trees, for filters and insight queries."""

from collections.abc import Sequence
from typing import Any

from hoglet.syntax import tree

type Expression = tree.Expression


def constant(value: Any) -> tree.Constant:
    """A literal."""
    return tree.Constant(value=value)


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
    """All of them; true when there are none."""
    if not items:
        return constant(True)
    return items[0] if len(items) == 1 else tree.And(exprs=tuple(items))


def some(items: Sequence[Expression]) -> Expression:
    """Any of them; false when there are none."""
    if not items:
        return constant(False)
    return items[0] if len(items) == 1 else tree.Or(exprs=tuple(items))


def negated(item: Expression) -> tree.Not:
    """``NOT item``."""
    return tree.Not(expr=item)


def array(items: Sequence[Any]) -> tree.Array:
    """A list of literals."""
    return tree.Array(exprs=tuple(constant(item) for item in items))
