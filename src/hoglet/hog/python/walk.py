"""Going through a bound tree without knowing every kind of node."""

from collections.abc import Iterator
from typing import Any

import msgspec

from hoglet.hog import bound

_PIECES = (bound.Node, bound.SqlList, bound.SqlMap, bound.SqlScalar)


def parts(node: Any) -> Iterator[Any]:
    """The nodes right below a node, in field order. Functions are nodes too."""
    for name in node.__struct_fields__:
        if name not in {"start", "end"}:
            yield from _nodes(getattr(node, name))


def _nodes(value: Any) -> Iterator[Any]:
    if isinstance(value, _PIECES):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


def everything(node: Any, *, into_functions: bool) -> Iterator[Any]:
    """The node and all below it; without ``into_functions`` inner functions are left out."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(
            part
            for part in parts(current)
            if into_functions or not isinstance(part, bound.BoundFunction)
        )


def own_nodes(function: bound.BoundFunction) -> Iterator[Any]:
    """All nodes of a function's body, inner functions left out."""
    return everything(function.body, into_functions=False)


def is_struct(value: Any) -> bool:
    """Whether a value is any node at all."""
    return isinstance(value, msgspec.Struct)
