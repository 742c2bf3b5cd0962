"""Typed checks and access of parsed JSON.

``isinstance(value, dict)`` leaves the types of keys and items unknown to the type
checker; these do not.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard


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


def object_at(parent: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The object at a key; empty if it is missing or null."""
    return parent.get(key) or {}


def array_at(parent: Mapping[str, Any], key: str) -> list[Any]:
    """The array at a key; empty if it is missing or null."""
    return parent.get(key) or []
