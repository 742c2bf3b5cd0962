"""Text."""

from array import array
from typing import Any

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime import regex as patterns
from hoglet.hog.runtime.formatting import as_text, joined
from hoglet.hog.runtime.text import (
    from_units,
    mend,
    unit_find,
    unit_length,
    unit_slice,
    units,
)
from hoglet.hog.runtime.values import HogTuple
from hoglet.hog.stdlib.arguments import integer, text


def length(value: Any) -> Any:
    kind = type(value)
    if kind is str:
        return len(value) if value.isascii() else unit_length(value)
    return len(value) if kind is list or kind is HogTuple else None


def lower(value: Any) -> Any:
    return None if value is None else meter.charged(text("lower", "text", value).lower())


def upper(value: Any) -> Any:
    return None if value is None else meter.charged(text("upper", "text", value).upper())


def reverse(value: Any) -> Any:
    if value is None:
        return None
    meter.charged(text("reverse", "text", value))
    if value.isascii():
        return value[::-1]
    return from_units(array("H", units(value))[::-1].tobytes())


concat = joined


def trim(value: Any, character: Any = None) -> Any:
    return _trimmed("trim", value, character, left=True, right=True)


def trim_left(value: Any, character: Any = None) -> Any:
    return _trimmed("trimLeft", value, character, left=True, right=False)


def trim_right(value: Any, character: Any = None) -> Any:
    return _trimmed("trimRight", value, character, left=False, right=True)


def _trimmed(function: str, value: Any, character: Any, *, left: bool, right: bool) -> Any:
    if value is None:
        return None
    source = text(function, "text", value)
    character = " " if character is None else character
    if type(character) is not str or unit_length(character) != 1:
        return ""
    source = source.lstrip(character) if left else source
    return source.rstrip(character) if right else source


def split_by_string(separator: Any, value: Any, most: Any = None) -> Any:
    if value is None:
        return None
    source = text("splitByString", "text", value)
    if separator is None:
        parts = [source]
    elif separator := as_text(separator):
        meter.charge(8 * source.count(separator) + len(source))
        parts = source.split(separator)
    else:
        parts = _characters(source)
    return parts if most is None else parts[: max(integer(most), 0)]


def _characters(source: str) -> list[str]:
    meter.charge(17 * len(source))
    if source.isascii():
        return list(source)
    code = units(source)
    return [from_units(code[place : place + 2]) for place in range(0, len(code), 2)]


def replace_one(value: Any, old: Any, new: Any) -> Any:
    return _replaced("replaceOne", value, old, new, 1)


def replace_all(value: Any, old: Any, new: Any) -> Any:
    return _replaced("replaceAll", value, old, new, -1)


def _replaced(function: str, value: Any, old: Any, new: Any, count: int) -> Any:
    if value is None:
        return None
    source, old, new = text(function, "text", value), as_text(old), as_text(new)
    times = min(source.count(old), count) if count > 0 else source.count(old)
    size = len(source) + times * (len(new) - len(old))
    if size > meter.LARGE:
        meter.charge(size)
    return mend(source.replace(old, new, count))


def position(value: Any, needle: Any, _start: Any = None) -> int:
    if type(value) is not str:
        return 0
    return unit_find(value, as_text(needle)) + 1


def position_case_insensitive(value: Any, needle: Any, _start: Any = None) -> int:
    if type(value) is not str:
        return 0
    return unit_find(value.lower(), as_text(needle).lower()) + 1


def substring(value: Any, start: Any, count: Any = None) -> Any:
    if value is None:
        return None
    if type(value) is not str:
        return ""
    first = integer(start) - 1
    size = unit_length(value)
    wanted = size if count is None else integer(count)
    if first < 0 or first >= size or wanted < 1:
        return ""
    part = unit_slice(value, first, min(first + wanted, size))
    if len(part) > meter.LARGE:
        meter.charge(len(part))
    return part


def starts_with(value: Any, prefix: Any) -> bool:
    return type(value) is str and type(prefix) is str and value.startswith(prefix)


def match(value: Any, pattern: Any) -> bool:
    return patterns.regex(value, pattern)


def extract_regex(value: Any, pattern: Any) -> Any:
    if value is None:
        return None
    source = text("extractRegex", "text", value)
    if type(pattern) is not str or not pattern:
        return ""
    found = patterns.first_match(pattern, source)
    if found is None:
        return ""
    return (found.group(1) if found.re.groups else found.group(0)) or ""


def multi_search_any(value: Any, needles: Any) -> int:
    if type(value) is not str or not isinstance(needles, list):
        return 0
    source = value.lower()
    return int(any(type(item) is str and item.lower() in source for item in needles))


def sortable_semver(value: Any) -> Any:
    if value is None:
        return None
    source = as_text(value)
    found = patterns.first_match(r"[0-9]+(?:\.[0-9]+)+", source)
    if found is None:
        return []
    dotted = found.group(0)
    meter.charge(16 * dotted.count("."))
    return [int(part) if len(part) < 16 else float(part) for part in dotted.split(".")]
