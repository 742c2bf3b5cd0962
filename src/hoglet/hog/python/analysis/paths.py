"""Paths of fields in expressions: ``e.properties.plan``."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from hoglet.hog.bind import tree as bound

ANY_KEY: Final = object()
"""A key that is computed when the program runs."""


def field(node: Any) -> tuple[bound.Variable, Any] | None:
    """The variable and the key of ``p.key``; None for anything else."""
    match node:
        case bound.GetProperty(
            target=bound.ReadVariable(variable=variable), key=bound.Constant(value=key)
        ):
            return variable, key
        case _:
            return None


def path_of_write(node: bound.AssignProperty) -> tuple[bound.Variable | None, list[Any]]:
    """The variable that is written through, and the keys of the path, some ``ANY_KEY``."""
    keys: list[Any] = [node.key.value if isinstance(node.key, bound.Constant) else ANY_KEY]
    target = node.target
    while isinstance(target, bound.GetProperty):
        keys.insert(0, target.key.value if isinstance(target.key, bound.Constant) else ANY_KEY)
        target = target.target
    return (target.variable if isinstance(target, bound.ReadVariable) else None), keys


def is_new(value: Any, path: list[Any]) -> bool:
    """Whether an initial value contains a new object at the path."""
    if isinstance(value, bound.ReadGlobal):
        return True  # a deep copy
    for step in path:
        if not isinstance(value, bound.MakeObject):
            return False
        value = next(
            (
                item
                for key, item in reversed(value.items)
                if isinstance(key, bound.Constant) and key.value == step
            ),
            None,
        )
    return isinstance(value, bound.MakeObject | bound.MakeArray)


def keys_in(nodes: Iterable[Any]) -> Iterator[Any]:
    """The expressions that are keys of objects."""
    for node in nodes:
        if isinstance(node, bound.AssignProperty | bound.GetProperty):
            yield node.key
        elif isinstance(node, bound.MakeObject):
            yield from (key for key, _ in node.items)


def may_be_at(path: tuple[Any, ...] | None, paths: Iterable[tuple[Any, ...]]) -> bool:
    """Whether an object at a path, None for any, may be at one of other paths."""
    return path is None or any(
        len(path) == len(other)
        and all(key in (ANY_KEY, step) for key, step in zip(path, other, strict=True))
        for other in paths
    )


def overlap(path: tuple[Any, ...], other: tuple[Any, ...] | None) -> bool:
    """Whether one of two paths may lead below the other; None stands for any path."""
    return other is None or all(
        key == step or ANY_KEY in (key, step) for key, step in zip(path, other, strict=False)
    )


def is_same_read(first: Any, second: Any, *, items: bool = False) -> bool:
    """Whether two expressions read the same variable or global, or the same field of it.

    With ``items``, also the same item: ``pair[1]``.
    """
    match first, second:
        case bound.ReadVariable(variable=variable), bound.ReadVariable(variable=other):
            return variable is other
        case bound.ReadGlobal(path=path), bound.ReadGlobal(path=other):
            return path == other
        case (
            bound.GetProperty(target=target, key=bound.Constant(value=str(key))),
            bound.GetProperty(target=holder, key=bound.Constant(value=str(other))),
        ):
            return key == other and is_same_read(target, holder, items=items)
        case (
            bound.GetProperty(target=target, key=bound.Constant(value=int(key))),
            bound.GetProperty(target=holder, key=bound.Constant(value=int(other))),
        ):
            is_same = items and type(key) is type(other) and key == other
            return is_same and is_same_read(target, holder, items=items)
        case _:
            return False
