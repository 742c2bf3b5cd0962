"""Binding of SQL trees: ``sql(expr)`` and ``(select ...)``.

An SQL tree is data: an object with the node's class name and its fields. ``{expr}`` inside it is
bound as Hog.

Source: docs/spec/hog-language.md#5-semantics-of-operators and
docs/spec/hog-language.md#12-bytecode.
"""

import math
from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.bind.binder import Binder
from hoglet.syntax import tree

_SKIPPED = frozenset(["start", "end"])


def bind_sql(binder: Binder, node: tree.Expression) -> bound.Expression:
    """The SQL tree of ``node`` (any node of the syntax tree)."""
    value = _node(binder, node)
    if isinstance(value, bound.SqlList | bound.SqlMap | bound.SqlScalar):
        return binder.refuse(node, "sql(...) takes exactly one expression")
    return value


def _node(binder: Binder, node: tree.Node) -> bound.SqlValue:
    if isinstance(node, tree.Placeholder):
        return binder.expression(node.expr)
    if isinstance(node, tree.HogQLXTag):
        return binder.expression(node)
    if isinstance(node, tree.Constant):
        return _constant(node)
    fields = [
        (name, _value(binder, getattr(node, name)))
        for name in type(node).__struct_fields__
        if name not in _SKIPPED and not _is_absent(node, name)
    ]
    return bound.SqlNode(
        kind=type(node).__name__, fields=tuple(fields), start=node.start, end=node.end
    )


def _constant(node: tree.Constant) -> bound.SqlNode:
    value = constant_value(node)
    fields = () if value is None else (("value", bound.SqlScalar(value)),)
    return bound.SqlNode(kind="Constant", fields=fields, start=node.start, end=node.end)


def constant_value(node: tree.Constant) -> bound.Scalar:
    """The value of a literal. Numbers beyond JSON arrive as strings and become floats."""
    return _wide_number(node.value) if node.value_type == "number" else node.value


def _wide_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return _prefixed(text)


def _prefixed(text: str) -> float:
    """``0xFFFFFFFFFFFFFFFFFF`` or ``0b1...`` with a sign perhaps."""
    try:
        return float(int(text, 0))
    except OverflowError:
        return -math.inf if text.startswith("-") else math.inf


def _is_absent(node: tree.Node, name: str) -> bool:
    value = getattr(node, name)
    return value is None or (name == "is_null_comparison_style" and not value)


def _value(binder: Binder, value: Any) -> bound.SqlValue:
    if isinstance(value, tree.Node):
        return _node(binder, value)
    if isinstance(value, tuple | list):
        return bound.SqlList(tuple([_value(binder, item) for item in value]))
    if isinstance(value, dict):
        return bound.SqlMap(tuple([(key, _value(binder, item)) for key, item in value.items()]))
    return bound.SqlScalar(value)
