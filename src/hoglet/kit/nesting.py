"""Nesting depth of JSON values."""

from typing import Any


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
