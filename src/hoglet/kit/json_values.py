"""Type names for JSON without a fixed shape, and typed checks and accessors for parsed JSON.

After ``isinstance(value, dict)``, the types of keys and items are unknown to the type checker; with
these functions they are known.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

type JsonObject = dict[str, Any]
"""Any JSON object: a request body before it is validated, a value that a program built.

An object whose keys are known has a ``TypedDict`` or a struct instead.
"""

type Properties = dict[str, Any]
"""Properties of an event, person or group by name: ``{"plan": "pro", "$browser": "Firefox"}``."""


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a parsed value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether a parsed value is an array."""
    return isinstance(value, list)


def is_list_like(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a list or a tuple."""
    return isinstance(value, list | tuple)


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Whether a value is a tuple."""
    return isinstance(value, tuple)


def same_json(left: Any, right: Any) -> bool:
    """Whether two values are equal as JSON. In Python ``True == 1``, even inside containers.

    Example:
        >>> same_json([1, {"a": 0}], [1.0, {"a": 0}]), same_json([1], [True])
        (True, False)
    """
    if left != right or isinstance(left, bool) is not isinstance(right, bool):
        return False
    if is_object(left):
        return all(same_json(value, right[key]) for key, value in left.items())
    if is_list_like(left):
        return all(map(same_json, left, right))
    return True


def overwrites(before: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether writing values into an object would change it. Called for every event, so it is fast.

    Example:
        >>> overwrites({"a": 1}, {"a": 1}), overwrites({"a": 1}, {"a": True})
        (False, True)
    """
    for key, value in values.items():
        old = before.get(key, _MISSING)
        if type(old) is type(value) and type(value) in _SCALARS:
            if old != value:
                return True
        elif not same_json(old, value):
            return True
    return False


_MISSING = object()
_SCALARS = frozenset({str, int, float, bool})


def object_at(parent: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The object at a key; empty if it is missing or null."""
    return parent.get(key) or {}


def array_at(parent: Mapping[str, Any], key: str) -> list[Any]:
    """The array at a key; empty if it is missing or null."""
    return parent.get(key) or []


def is_deeper_than(value: Any, limit: int) -> bool:
    """Whether arrays and objects are nested more than ``limit`` levels.

    Works level by level, without recursion, because the sender controls the depth.

    Example:
        >>> is_deeper_than([[1]], 1), is_deeper_than([[1]], 2)
        (True, False)
    """
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(limit):
        if not level:
            return False
        level = [
            child
            for parent in level
            for child in (parent.values() if type(parent) is dict else parent)
            if type(child) is dict or type(child) is list
        ]
    return bool(level)
