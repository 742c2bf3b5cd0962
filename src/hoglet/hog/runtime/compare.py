"""Truth, equality, ordering and membership, with the language's unification.

Source: docs/spec/hog-language.md#4-values and docs/spec/hog-language.md#5-semantics-of-operators.
"""

import math
from itertools import chain
from operator import ge, gt, le, lt
from typing import Any

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.dates import instant, parse_instant
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.numbers import number_text, text_to_number
from hoglet.hog.runtime.text import contains_text, order_key
from hoglet.hog.runtime.values import (
    HogDate,
    HogDateTime,
    HogTuple,
    is_function,
    is_number,
    stored_key,
    type_name,
)


def truthy(value: Any) -> bool:
    """False for null, false, 0, NaN and ``''``; true for everything else."""
    kind = type(value)
    if kind is bool:
        return value
    if kind is str or kind is int:
        return bool(value)
    if kind is float:
        return value == value and value != 0  # noqa: PLR0124 (NaN)
    return value is not None


def unify(left: Any, right: Any) -> tuple[Any, Any]:
    """Both operands of a comparison, converted to a common type if there is one."""
    kinds = type(left), type(right)
    if kinds[0] is kinds[1] and kinds[0] not in _TEMPORAL:
        return left, right
    if kinds[0] in _TEMPORAL or kinds[1] in _TEMPORAL:
        return _unify_times(left, right)
    return _unify_scalar(left, right), _unify_scalar(right, left)


_TEMPORAL = frozenset({HogDate, HogDateTime})
_NUMBERS = frozenset({int, float})


def _unify_scalar(value: Any, other: Any) -> Any:
    """``value`` converted to the type that ``other`` requires."""
    kind = type(value)
    if kind is str:
        if type(other) is bool:
            return value == "true"
        if is_number(other):
            return text_to_number(value)
    if kind is bool and is_number(other):
        return 1 if value else 0
    return value


def _unify_times(left: Any, right: Any) -> tuple[Any, Any]:
    first, second = _as_instant(left), _as_instant(right)
    if first is None or second is None:
        return left, right
    return first, second


def _as_instant(value: Any) -> float | None:
    if type(value) in _TEMPORAL:
        return instant(value)
    return parse_instant(value) if type(value) is str else None


def equal(left: Any, right: Any) -> bool:
    """``left == right`` after unification."""
    kind = type(left)
    if kind is type(right) and (kind is str or kind is int):
        return left == right
    if left is None or right is None:
        return left is right
    if type(right) is str and kind in _NUMBERS:
        return left == text_to_number(right)
    left, right = unify(left, right)
    return same(left, right)


def not_equal(left: Any, right: Any) -> bool:
    """``left != right`` after unification."""
    return not equal(left, right)


def same(left: Any, right: Any) -> bool:
    """Equality without unification."""
    kind, other = type(left), type(right)
    if kind is bool or other is bool:
        return left is right
    if is_number(left):
        return is_number(right) and left == right
    if kind is str:
        return other is str and left == right
    if left is right:
        return True
    return _same_numbers(left, right)


def _same_numbers(left: Any, right: Any) -> bool:
    if not isinstance(left, list) or not isinstance(right, list):
        return False
    meter.poll()
    return _finite(left) and _finite(right) and list(left) == list(right)


def _finite(items: list[Any]) -> bool:
    return all(
        is_number(item) and math.isfinite(item) for part in meter.chunks(items) for item in part
    )


def less(left: Any, right: Any) -> bool:
    """``left < right``."""
    return _order(left, right, lt)


def less_equal(left: Any, right: Any) -> bool:
    """``left <= right``."""
    return _order(left, right, le)


def greater(left: Any, right: Any) -> bool:
    """``left > right``."""
    return _order(left, right, gt)


def greater_equal(left: Any, right: Any) -> bool:
    """``left >= right``."""
    return _order(left, right, ge)


def _order(left: Any, right: Any, test: Any) -> bool:
    if left is None or right is None:
        return False
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        return test(left, right)
    if type(left) is HogDateTime and type(right) is HogDateTime:
        return test(left.seconds, right.seconds)
    left, right = unify(left, right)
    if isinstance(left, list) and isinstance(right, list) and _finite(left) and _finite(right):
        return test(list(left), list(right))
    return order_plain(left, right, test)


def order_plain(left: Any, right: Any, test: Any) -> bool:
    """Ordering without unification; arrays compare as strings, null as false."""
    if left is None or right is None:
        return False
    if is_number(left) and is_number(right):
        return test(left, right)
    left, right = _primitive(left), _primitive(right)
    if type(left) is str and type(right) is str:
        if left.isascii() and right.isascii():
            return test(left, right)
        return test(order_key(left), order_key(right))
    return test(_order_number(left), _order_number(right))


def _order_number(value: Any) -> float:
    return text_to_number(value) if type(value) is str else value


def _primitive(value: Any) -> Any:
    """The string or number by which values of mixed types are ordered."""
    kind = type(value)
    if kind is str or is_number(value):
        return value
    if kind is bool:
        return 1 if value else 0
    if isinstance(value, list):
        return plain_join(value)
    if kind is HogDate or kind is HogDateTime:
        return "[object Object]"
    return "[object Map]" if kind is dict else "[object Object]"


def plain_join(items: list[Any], outer: tuple[list[Any], ...] = ()) -> str:
    """Items joined with commas: how arrays become strings or numbers for ordering.

    An array inside itself is the empty string.
    """
    if len(outer) > 50 or any(items is array for array in outer):
        return ""
    meter.poll()
    inner = (*outer, items)
    parts = [_plain(item, inner) for part in meter.chunks(items) for item in part]
    return meter.charged(",".join(parts))


def _plain(item: Any, outer: tuple[list[Any], ...]) -> str:
    if item is None:
        return ""
    if type(item) is bool:
        return "true" if item else "false"
    if is_number(item):
        return number_text(item)
    if isinstance(item, list):
        return plain_join(item, outer)
    return item if type(item) is str else _primitive(item)


def contains(needle: Any, haystack: Any) -> bool:
    """``needle in haystack``.

    Raises:
        EngineError: the haystack is not a collection.
    """
    kind = type(haystack)
    if haystack is None:
        return False
    if kind is list or kind is HogTuple:
        return member(needle, haystack)
    if kind is str:
        if type(needle) is str and needle.isascii():
            return needle in haystack
        return contains_text(haystack, _needle_text(needle)) if type(needle) in _TEXTUAL else False
    if kind is dict:
        return stored_key(needle) in haystack
    raise EngineError(f"Can not use 'in' with a haystack of type {type_name(haystack)}")


_TEXTUAL = frozenset({str, bool, int, float})


def _needle_text(needle: Any) -> str:
    if type(needle) is str:
        return needle
    return str(needle).lower() if type(needle) is bool else number_text(needle)


def not_contains(needle: Any, haystack: Any) -> bool:
    """``needle not in haystack``."""
    return not contains(needle, haystack)


def member(needle: Any, items: list[Any]) -> bool:
    """Strict membership: no unification, objects by identity."""
    kind = type(needle)
    if kind is str:
        return needle in items
    if kind is int or kind is float:
        if needle != needle:  # noqa: PLR0124 (NaN, which membership finds though it equals nothing)
            return any(type(item) is float and item != item for item in items)  # noqa: PLR0124
        return any(
            is_number(item) and item == needle for part in meter.chunks(items) for item in part
        )
    return any(item is needle for part in meter.chunks(items) for item in part)


def index_of(needle: Any, items: list[Any]) -> int:
    """The 1-based index of a strict member; 0 if there is none."""
    if type(needle) is str:  # only strings equal strings
        return items.index(needle) + 1 if needle in items else 0
    for position, item in enumerate(chain.from_iterable(meter.chunks(items)), 1):
        if item is needle or (type(item) is str and item == needle):
            if item != item:  # noqa: PLR0124 (NaN is no member)
                continue
            return position
        if is_number(needle) and is_number(item) and item == needle:
            return position
    return 0


__all__ = ["contains", "equal", "is_function", "less", "truthy", "unify"]
