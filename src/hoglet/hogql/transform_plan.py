"""Rebuilds plans with changed nodes; unchanged nodes are shared."""

from collections.abc import Callable
from typing import Any

import msgspec

from hoglet.hogql import plan

type Visit = Callable[[Any], Any]


def transform_children(node: Any, visit: Visit) -> Any:
    """A node of a plan with the result of ``visit`` for each of its children."""
    changed: dict[str, Any] = {}
    for name in _FIELDS.get(type(node), ()):
        value = getattr(node, name)
        visited = _visited(value, visit)
        if visited is not value:
            changed[name] = visited
    return msgspec.structs.replace(node, **changed) if changed else node


def _visited(value: Any, visit: Visit) -> Any:
    if type(value) in _LEAVES:
        return value
    return _tuple(value, visit) if type(value) is tuple else visit(value)


def _tuple(items: tuple[Any, ...], visit: Visit) -> tuple[Any, ...]:
    changed: list[Any] | None = None
    for index, item in enumerate(items):
        visited = _visited(item, visit)
        if visited is not item:
            changed = changed or list(items)
            changed[index] = visited
    return items if changed is None else tuple(changed)


_LEAVES = frozenset({str, int, bool, float, type(None)})
_SKIPPED = frozenset({"type", "project", "flat_read", "limit", "offset"})
_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(name for name in kind.__struct_fields__ if name not in _SKIPPED)
    for kind in (
        plan.FunctionCall,
        plan.TrustedSQL,
        plan.LambdaExpr,
        plan.Ordering,
        plan.Window,
        plan.Over,
        plan.ScalarQuery,
        plan.Scan,
        plan.Numbers,
        plan.Join,
        plan.Select,
        plan.SetQuery,
        plan.Recursion,
        plan.RecursiveRead,
    )
}
