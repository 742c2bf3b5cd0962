"""Tuples: names of parts, access to parts, and HogQLX tags, which become tuples."""

import re
from collections.abc import Sequence
from typing import Any

from hoglet.hogql import types
from hoglet.hogql.plan import Expr, FunctionCall, LambdaExpr, Value
from hoglet.hogql.resolve.expressions import constant
from hoglet.hogql.resolve.resolver import Resolver
from hoglet.hogql.resolve.scope import Scope
from hoglet.hogql.types import Type
from hoglet.syntax import tree

_NAMED = re.compile(
    r"\s*(?P<array>Array\s*\(\s*)?Tuple\s*\((?P<parts>[\w\s,()]+)\)\s*", re.IGNORECASE
)
_NAMED_PART = re.compile(r"\s*(?P<name>\w+)\s+[\w\s()]+")


def resolve_tuple(resolver: Resolver, node: tree.Tuple, scope: Scope) -> Expr:
    """``(a, b)``, also with names: ``(a AS x, b AS y)``."""
    args = resolver.expressions(node.exprs, scope)
    return FunctionCall(function="tuple", args=args, type=tuple_type(node.exprs))


def tuple_type(parts: Sequence[Any]) -> Type:
    """The type of a tuple of these expressions."""
    names = tuple([getattr(part, "alias", "") for part in parts])
    return Type("Tuple", names=names) if any(names) else types.TUPLE


def type_with_names(name: str, nodes: Sequence[Any], args: tuple[Expr, ...], type_: Type) -> Type:
    """The type of a call; its tuples keep the names of their parts."""
    if name == "tuple":
        return tuple_type(nodes)
    if name == "JSONExtract":
        return _extracted(args[-1]) or type_
    if name == "arrayMap" and isinstance(args[0], LambdaExpr) and args[0].type.names:
        return Type("Array", item=args[0].type)
    item = next((arg.type.item for arg in args if arg.type.item), None)
    if item is None or not item.names:
        return type_
    if name in _KEEP_ITEMS:
        return Type("Array", item=item)
    return item if name in _ONE_ITEM else type_


_KEEP_ITEMS = frozenset(
    {
        "arrayFilter", "arraySort", "arrayReverseSort", "arrayReverse", "arraySlice",
        "arrayDistinct", "arrayConcat",
    }
)  # fmt: skip
_ONE_ITEM = frozenset({"arrayFirst", "arrayLast", "arrayElement"})


def _extracted(description: Expr) -> Type | None:
    """The type of ``JSONExtract(…, 'Array(Tuple(name String, n Int64))')``; None without names."""
    text = description.value if isinstance(description, Value) else None
    match = _NAMED.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    parts = [_NAMED_PART.fullmatch(part) for part in match["parts"].split(",")]
    names = tuple([part["name"] for part in parts if part is not None])
    if len(names) != len(parts):
        return None
    named = Type("Tuple", names=names)
    return Type("Array", item=named) if match["array"] else named


def lambda_items(name: str, args: Sequence[Expr | None]) -> tuple[Type, ...]:
    """The types of the arguments of a lambda: named tuples that are items of the lists."""
    lists = [arg.type.item for arg in args if arg is not None]
    if name == "arrayFold":
        lists = [None, *lists[:-1]]
    return tuple([item if item and item.names else types.UNKNOWN for item in lists])


def resolve_tag(resolver: Resolver, node: tree.HogQLXTag, scope: Scope) -> Expr:
    """``<a href='x'>{y}</a>`` as a tuple of names and values, which PostHog's tables render."""
    parts = [constant("__hx_tag"), constant(node.kind)]
    for each in node.attributes:
        parts += [constant(each.name), _attribute(resolver, each.value, scope)]
    return FunctionCall(function="tuple", args=tuple(parts), type=types.TUPLE)


def _attribute(resolver: Resolver, value: Any, scope: Scope) -> Expr:
    if not isinstance(value, tuple):
        return resolver.expression(value, scope)
    # Not an array: children may have several types.
    items = resolver.expressions(value, scope)
    return FunctionCall(function="tuple", args=items, type=types.TUPLE)
