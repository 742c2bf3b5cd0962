"""Imports the host's data and tests it in one pass.

Most host data that programs put into their results is small and plain: then it is copied here,
and neither the program nor the end of the run has to look at it again.
"""

from typing import Any, Final

from hoglet.hog.runtime.convert import import_value, is_tagged
from hoglet.hog.runtime.plain_data import SHORT, is_plain_import, is_plain_leaf
from hoglet.hog.runtime.values import LARGEST_INTEGER

MANY: Final = 1_000_000
"""What a value that is not plain adds to a counter of parts."""

PER_IMPORT: Final = 64
"""What a large array or object that is plain adds to such a counter."""

PER_CONTAINER: Final = 4
"""What an array or object adds to it, besides its parts."""

_MOST_PARTS: Final = 400


def plain_import(value: Any) -> tuple[Any, int]:
    """The import of host data, and what it adds to a counter of parts.

    A plain value consists of short strings, booleans, null and numbers that JSON has as Hog prints
    them; see :mod:`hoglet.hog.python.codegen.plain_values`.
    """
    kind = type(value)
    if kind is not dict and kind is not list:
        value = import_value(value)
        return value, 1 if is_plain_leaf(value) else MANY
    left = [_MOST_PARTS]
    copy = (_plain_object if kind is dict else _plain_array)(value, left)
    if copy is not None:
        return copy, _MOST_PARTS - left[0]
    value = import_value(value)
    return value, PER_IMPORT if is_plain_import(value) else MANY


def _plain_object(value: dict[Any, Any], left: list[int]) -> dict[str, Any] | None:
    """A copy of an object of the host, None unless it is plain and has few parts ``left``."""
    left[0] -= len(value) + PER_CONTAINER
    if left[0] < 0 or is_tagged(value):
        return None
    copy = value.copy()
    for key, item in value.items():
        if type(key) is not str or len(key) > SHORT:
            return None
        if type(item) is str:
            if len(item) > SHORT:
                return None
        elif not (item is None or item is True or item is False):
            part = _plain_part(item, left)
            if part is None:
                return None
            if part is not item:
                copy[key] = part
    return copy


def _plain_array(value: list[Any], left: list[int]) -> list[Any] | None:
    """:func:`_plain_object` of an array."""
    left[0] -= len(value) + PER_CONTAINER
    if left[0] < 0:
        return None
    copy = value.copy()
    for index, item in enumerate(value):
        if type(item) is str:
            if len(item) > SHORT:
                return None
        elif not (item is None or item is True or item is False):
            part = _plain_part(item, left)
            if part is None:
                return None
            if part is not item:
                copy[index] = part
    return copy


def _plain_part(item: Any, left: list[int]) -> Any:
    """A plain number, a copy of a plain array or object; None of anything else."""
    kind = type(item)
    if kind is int:
        return item if -LARGEST_INTEGER <= item <= LARGEST_INTEGER else None
    if kind is dict:
        return _plain_object(item, left)
    if kind is list:
        return _plain_array(item, left)
    return item if is_plain_leaf(item) else None
