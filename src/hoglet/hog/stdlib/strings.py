"""Strings."""

import math
from array import array
from typing import Any, Final

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime import regex as patterns
from hoglet.hog.runtime.formatting import as_text, joined
from hoglet.hog.runtime.numbers import to_number
from hoglet.hog.runtime.text import (
    contains_text,
    from_units,
    gather,
    has_half,
    mend,
    spread,
    unit_find,
    unit_length,
    unit_slice,
    units,
)
from hoglet.hog.runtime.values import HogError, HogTuple, is_number
from hoglet.hog.stdlib.arguments import plain_text, scalar_text, text, wrong


def length(value: Any) -> Any:
    kind = type(value)
    if kind is str:
        return len(value) if value.isascii() else unit_length(value)
    return len(value) if kind is list or kind is HogTuple else None


def lower(value: Any) -> Any:
    if type(value) is not str:
        return None if value is None else text("lower", "text", value)
    result = value.lower()
    return result if len(result) <= meter.LARGE else meter.charged(result)


def upper(value: Any) -> Any:
    if type(value) is not str:
        return None if value is None else text("upper", "text", value)
    result = value.upper()
    return result if len(result) <= meter.LARGE else meter.charged(result)


def reverse(value: Any) -> Any:
    if value is None:
        return None
    meter.charged(text("reverse", "text", value))
    if value.isascii():
        return value[::-1]
    return from_units(array("H", units(value))[::-1].tobytes())


concat = joined


def trim(value: Any, character: Any = None) -> Any:
    if type(value) is str and character is None:
        return value.strip(" ")
    return _trimmed("trim", value, character, left=True, right=True)


def trim_left(value: Any, character: Any = None) -> Any:
    return _trimmed("trimLeft", value, character, left=True, right=False)


def trim_right(value: Any, character: Any = None) -> Any:
    return _trimmed("trimRight", value, character, left=False, right=True)


def _trimmed(function: str, value: Any, character: Any, *, left: bool, right: bool) -> Any:
    if value is None:
        return None
    character = " " if character is None else character
    if type(character) is not str or unit_length(character) != 1:
        return ""
    source = text(function, "text", value)
    source = source.lstrip(character) if left else source
    return source.rstrip(character) if right else source


def split_by_string(separator: Any, value: Any, most: Any = None) -> Any:
    if value is None:
        return None
    source = value if type(value) is str else text("splitByString", "text", value)
    if separator is None:
        parts = [source]
    elif type(separator) is str and separator.isascii() and separator:
        if len(source) > meter.LARGE:
            meter.charge(8 * source.count(separator) + len(source))
        parts = source.split(separator)
    elif separator := plain_text(separator):
        if whole := has_half(separator):
            source, separator = spread(source), spread(separator)
        meter.charge(8 * source.count(separator) + len(source))
        parts = source.split(separator)
        parts = [gather(part) for part in parts] if whole else parts
    else:
        parts = _characters(source)
    return parts if most is None else parts[: _limit(most)]


def _limit(value: Any) -> int:
    """A limit as an unsigned 32-bit number, so negative limits are effectively unlimited."""
    number = to_number(value)
    return int(number) % 2**32 if math.isfinite(number) else 0


def _characters(source: str) -> list[str]:
    meter.charge(17 * len(source))
    if source.isascii():
        return list(source)
    code = units(source)
    return [from_units(code[index : index + 2]) for index in range(0, len(code), 2)]


_SHORT: Final = 512  # short texts stay below the charged size even if every character is replaced


def replace_one(value: Any, old: Any, new: Any) -> Any:
    if _is_short_replacement(value, old, new):
        return meter.charged(value.replace(old, new, 1))
    return _replaced("replaceOne", value, old, new, 1)


def replace_all(value: Any, old: Any, new: Any) -> Any:
    if _is_short_replacement(value, old, new):
        return meter.charged(value.replace(old, new))
    return _replaced("replaceAll", value, old, new, -1)


def _is_short_replacement(value: Any, old: Any, new: Any) -> bool:
    return (
        type(value) is type(old) is type(new) is str
        and len(value) + len(new) <= _SHORT
        and value.isascii()
        and new.isascii()
    )


def _replaced(function: str, value: Any, old: Any, new: Any, count: int) -> Any:
    if value is None:
        return None
    source, old, new = text(function, "text", value), plain_text(old), plain_text(new)
    if has_half(old):
        return gather(_replaced(function, spread(source), spread(old), spread(new), count))
    times = min(source.count(old), count) if count > 0 else source.count(old)
    size = len(source) + times * (len(new) - len(old))
    if size > meter.LARGE:
        meter.charge(size)
    return mend(source.replace(old, new, count))


def position(value: Any, needle: Any, _start: Any = None) -> int:
    if type(value) is not str:
        return 0
    if type(needle) is str and value.isascii():
        return value.find(needle) + 1
    return unit_find(value, plain_text(needle)) + 1


def position_case_insensitive(value: Any, needle: Any, _start: Any = None) -> int:
    if type(value) is not str:
        return 0
    return unit_find(value.lower(), plain_text(needle).lower()) + 1


def substring(value: Any, start: Any, count: Any = None) -> Any:
    if value is None:
        return None
    if type(value) is not str:
        return ""
    if type(start) is int and start > 0 and value.isascii():
        first = start - 1
        if count is None or (type(count) is int and count > 0):
            part = value[first:] if count is None else value[first : first + count]
            return part if len(part) <= meter.LARGE else meter.charged(part)
    first = to_number(start) - 1
    size = unit_length(value)
    most = count if is_number(count) else size
    if not (0 <= first < size and most >= 1):
        return ""
    part = unit_slice(value, int(first), int(min(first + most, size)))
    if len(part) > meter.LARGE:
        meter.charge(len(part))
    return part


def starts_with(value: Any, prefix: Any) -> bool:
    if type(value) is not str or type(prefix) is not str:
        return False
    if prefix.isascii():
        return value.startswith(prefix)
    return (
        spread(value).startswith(spread(prefix)) if has_half(prefix) else value.startswith(prefix)
    )


def match(value: Any, pattern: Any) -> bool:
    return patterns.regex(value, pattern)


def extract_regex(value: Any, pattern: Any) -> Any:
    if value is None:
        return None
    source, pattern = scalar_text(value), scalar_text(pattern)
    if source is None:
        wrong("extractRegex", "text", "a string", value)
    return patterns.extracted(pattern, source) if pattern else ""


def multi_search_any(value: Any, needles: Any) -> int:
    source = scalar_text(value)
    if source is None or not isinstance(needles, list):
        return 0
    source = source.lower()
    texts = (as_text(item).lower() for part in meter.chunks(needles) for item in part)
    return int(any(contains_text(source, needle) for needle in texts))


def sortable_semver(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, dict | HogError):
        return []
    source = as_text(value)
    version = patterns.first_match(r"[0-9]+(?:\.[0-9]+)+", source)
    if version is None:
        return []
    dotted = version[0] or ""
    meter.charge(16 * dotted.count("."))
    return [int(part) if len(part) < 16 else float(part) for part in dotted.split(".")]
