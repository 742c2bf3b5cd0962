"""Filters for browsers: adapts equality to JavaScript's ``==``.

Source: docs/spec/hog-language.md#14-javascript.
"""

from typing import Any

import msgspec

from hoglet.functions.filters.nodes import all_of, any_of, compare, literals
from hoglet.kit.json import is_tuple
from hoglet.syntax import tree

_OBJECTS = frozenset({"sortableSemver", "toDateTime"})
_BOOLEANS = {"true": True, "false": False}


def for_browsers(condition: "tree.Expression") -> "tree.Expression":
    """The condition with explicit equality of lists, dates and booleans.

    In JavaScript lists and dates are compared by identity, and ``true`` is not ``"true"``.
    """
    return _rewritten(condition)


def _rewritten(node: Any) -> Any:
    if is_tuple(node):
        return tuple(_rewritten(item) for item in node)
    if not isinstance(node, tree.Node):
        return node
    names = (name for name in node.__struct_fields__ if name not in {"start", "end"})
    inner = {name: _rewritten(getattr(node, name)) for name in names}
    node = msgspec.structs.replace(node, **inner)
    if isinstance(node, tree.CompareOperation) and node.op in {"==", "!="}:
        equal = _equality(node)
        return node if equal is None else equal if node.op == "==" else tree.Not(expr=equal)
    return node


def _equality(node: tree.CompareOperation) -> "tree.Expression | None":
    left, right = node.left, node.right
    if isinstance(left, tree.Call) and left.name in _OBJECTS:
        return all_of([compare(left, ">=", right), compare(left, "<=", right)])
    if isinstance(right, tree.Constant) and right.value in ("true", "false"):
        same = compare(left, "==", right)
        return any_of([same, compare(left, "in", literals([_BOOLEANS[right.value]]))])
    return None
