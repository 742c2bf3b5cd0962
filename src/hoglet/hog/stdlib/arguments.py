"""Validates arguments of library functions.

Functions handle null themselves (the result is null); values of a wrong type end the run with a
message that names the function and the argument.
"""

from typing import Any, Final, Never

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.formatting import as_text
from hoglet.hog.runtime.numbers import to_number, whole
from hoglet.hog.runtime.text import mend
from hoglet.hog.runtime.values import type_name

_SCALARS: Final = frozenset({bool, int, float})


def wrong(function: str, argument: str, expected: str, value: Any) -> Never:
    """The error for a wrong value: ``lower: the argument text must be a string, not integer``."""
    raise EngineError(
        f"{function}: the argument {argument} must be {expected}, not {type_name(value)}"
    )


def text(function: str, argument: str, value: Any) -> str:
    """The value, which must be a string."""
    if type(value) is not str:
        wrong(function, argument, "a string", value)
    return value


def plain_text(value: Any) -> str:
    """The value as text, an array as its items separated by commas.

    ``1,2,c`` for ``[1, [2, 'c']]``. Null items are empty; others are converted by ``toString``.
    """
    return mend(_commas(value, [])) if isinstance(value, list) else as_text(value)


def join_items(items: list[Any], glue: str) -> str:
    """Items as text, separated by ``glue``; nested arrays as in :func:`plain_text`."""
    if len(items) <= meter.LARGE:
        size = len(glue) * len(items)
        for item in items:
            if type(item) is not str:
                break
            size += len(item)
        else:
            if size > meter.LARGE:
                meter.charge(size)
            text = glue.join(items)
            return text if text.isascii() else mend(text)
    return mend(_joined(items, glue, []))


def _commas(value: Any, path: list[int]) -> str:
    if type(value) is str:
        return value
    if not isinstance(value, list):
        return "" if value is None else as_text(value)
    return "" if id(value) in path else _joined(value, ",", path)


def _joined(items: list[Any], glue: str, path: list[int]) -> str:
    meter.poll()
    path.append(id(items))
    parts = [_commas(item, path) for part in meter.chunks(items) for item in part]
    path.pop()
    size = sum(map(len, parts)) + len(glue) * len(parts)
    if size > meter.LARGE:
        meter.charge(size)
    return glue.join(parts)


def scalar_text(value: Any) -> str | None:
    """Strings unchanged, numbers and booleans as text, None for other values."""
    if type(value) is str:
        return value
    return as_text(value) if type(value) in _SCALARS else None


def integer(value: Any, otherwise: int = 0) -> int:
    """The value as an integer, truncated; ``otherwise`` if it is not a number."""
    number = whole(to_number(value))
    if type(number) is int:
        return number
    return int(number) if abs(number) < 2**53 else otherwise
