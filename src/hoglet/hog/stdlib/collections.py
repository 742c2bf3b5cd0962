"""Arrays, tuples and objects."""

import math
from typing import Any, Final

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.budget import chunks
from hoglet.hog.runtime.compare import equal, index_of, member
from hoglet.hog.runtime.errors import HogThrow
from hoglet.hog.runtime.formatting import printed
from hoglet.hog.runtime.numbers import to_number
from hoglet.hog.runtime.text import order_key
from hoglet.hog.runtime.values import HogError, HogTuple, display_key, is_number
from hoglet.hog.stdlib.arguments import join_items, plain_text


def _charged(items: list[Any]) -> list[Any]:
    if len(items) > meter.LARGE:
        meter.charge(8 * len(items))
    return items


def keys(value: Any) -> list[Any]:
    if type(value) is dict:
        return _charged([key if type(key) is str else display_key(key) for key in value])
    return _charged(list(range(len(value)))) if isinstance(value, list) else []


def values(value: Any) -> list[Any]:
    if type(value) is dict:
        return _charged(list(value.values()))
    return _charged(list(value)) if isinstance(value, list) else []


def empty(value: Any) -> bool:
    return not value and (value is None or type(value) in _MAY_BE_EMPTY)


_MAY_BE_EMPTY: Final = frozenset({str, list, dict, HogTuple})


def not_empty(value: Any) -> bool:
    return bool(value) or not (value is None or type(value) in _MAY_BE_EMPTY)


def has(value: Any, item: Any) -> bool:
    return isinstance(value, list) and member(item, value)


def is_in(item: Any, value: Any) -> bool:
    return has(value, item)


def find(value: Any, item: Any) -> int:
    return index_of(item, value) if isinstance(value, list) else 0


def push_back(value: Any, item: Any) -> list[Any]:
    return _charged([*value, item]) if isinstance(value, list) else [item]


def push_front(value: Any, item: Any) -> list[Any]:
    return _charged([item, *value]) if isinstance(value, list) else [item]


def pop_back(value: Any) -> list[Any]:
    return _charged(list(value[:-1])) if isinstance(value, list) else []


def pop_front(value: Any) -> list[Any]:
    return _charged(list(value[1:])) if isinstance(value, list) else []


def sort(value: Any, *_more: Any) -> list[Any]:
    if not isinstance(value, list):
        return []
    if len(value) <= meter.LARGE:
        if _are_ascii(value) or _are_ordered_numbers(value):
            return sorted(value)
    else:
        meter.charge(8 * len(value))
    if all(is_number(item) for item in value):
        numbers = [item for item in value if item == item]  # noqa: PLR0124 (NaN goes last)
        return _sorted(numbers) + [math.nan] * (len(value) - len(numbers))
    return [item for _, item in _sorted(_with_keys(value), key=_first)]


def _are_ascii(items: list[Any]) -> bool:
    """Whether all items are ASCII strings."""
    for item in items:  # noqa: SIM110 (``all`` takes twice as long)
        if type(item) is not str or not item.isascii():
            return False
    return True


def _are_ordered_numbers(items: list[Any]) -> bool:
    """Whether all items are numbers other than NaN."""
    for item in items:
        if type(item) is not int and (type(item) is not float or item != item):  # noqa: PLR0124
            return False
    return True


_RUN: Final = 65_536


def _sorted(items: list[Any], key: Any = None) -> list[Any]:
    """``sorted`` in runs that are merged, with budget checks in between."""
    if len(items) <= _RUN:
        return sorted(items, key=key)
    half = len(items) // 2
    merged = _sorted(items[:half], key) + _sorted(items[half:], key)
    meter.poll()
    merged.sort(key=key)  # timsort detects the two runs
    return merged


def _with_keys(items: list[Any]) -> list[tuple[bytes, Any]]:
    keyed: list[tuple[bytes, Any]] = []
    for part in chunks(items):
        keyed.extend([(order_key(printed(item)), item) for item in part])
    return keyed


def _first(pair: tuple[bytes, Any]) -> bytes:
    return pair[0]


def reverse_sort(value: Any, *_more: Any) -> list[Any]:
    return sort(value)[::-1]


def reverse(value: Any) -> list[Any]:
    return _charged(list(value[::-1])) if isinstance(value, list) else []


def string_concat(value: Any, separator: Any = None) -> str:
    if not isinstance(value, list):
        return ""
    return join_items(value, "" if separator is None else plain_text(separator))


def make_range(*bounds: Any) -> list[Any]:
    low, high = (0, *bounds)[-2:]
    if type(low) is not int or type(high) is not int:
        low, high = to_number(low), to_number(high)
    if not low < high:
        return []
    size = int(min(high - low, 2**53))
    meter.charge(8 * size)
    if type(low) is int:
        return list(range(low, low + size))
    return [low + step for step in range(size)]


def in_cohort(cohort: Any, cohorts: Any) -> bool:
    if cohorts is None:
        raise HogThrow(HogError("Error", "Cohort membership is not loaded for this run"))
    if type(cohorts) is dict:
        cohorts = list(cohorts.values())
    if not isinstance(cohorts, list):
        return False
    return any(equal(cohort, item) for part in chunks(cohorts) for item in part)


def not_in_cohort(cohort: Any, cohorts: Any) -> bool:
    return not in_cohort(cohort, cohorts)
