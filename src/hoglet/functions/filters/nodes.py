"""Constructors for the Hog trees of filters."""

from collections.abc import Iterable, Sequence
from typing import Any

from hoglet.syntax import tree


def constant(value: Any) -> tree.Constant:
    """A literal: string, number, boolean or null."""
    return tree.Constant(value=value)


def field(*chain: str | int) -> tree.Field:
    """A path of globals: ``field("person", "properties", "email")``."""
    return tree.Field(chain=chain)


def call(name: str, *arguments: "tree.Expression") -> tree.Call:
    """A call of a library function."""
    return tree.Call(name=name, args=arguments)


def compare(left: "tree.Expression", operator: str, right: "tree.Expression") -> "tree.Expression":
    """``left operator right``."""
    return tree.CompareOperation(left=left, op=operator, right=right)


def text_of(node: "tree.Expression") -> tree.Call:
    """``toString(node)``."""
    return call("toString", node)


def literals(values: Iterable[Any]) -> tree.Tuple:
    """A tuple of constants."""
    return tree.Tuple(exprs=tuple(constant(value) for value in values))


def all_of(parts: Sequence["tree.Expression"]) -> "tree.Expression":
    """AND of the parts; a single part is not wrapped, without parts it is TRUE."""
    if not parts:
        return constant(True)
    return parts[0] if len(parts) == 1 else tree.And(exprs=tuple(parts))


def any_of(parts: Sequence["tree.Expression"]) -> "tree.Expression":
    """OR of the parts; a single part is not wrapped, without parts it is TRUE."""
    if not parts:
        return constant(True)
    return parts[0] if len(parts) == 1 else tree.Or(exprs=tuple(parts))
