"""Reads the host's data in place, without importing a copy for the program.

Functions return the same as those of the library for the imported value; only results are imported.
Anything but plain JSON data (tagged dates, non-string keys) is imported first.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import orjson

from hoglet.hog.runtime.budget import current
from hoglet.hog.runtime.compare import contains, equal, member
from hoglet.hog.runtime.convert import export_value, import_value, is_tagged
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.formatting import as_text, joined, nested, printed, printed_from_json
from hoglet.hog.runtime.host_json import host_json, settled_copy
from hoglet.hog.runtime.numbers import number_text
from hoglet.hog.runtime.plain_data import (
    copied,
    has_odd_float,
    has_tag,
    has_text_keys,
    has_whole_float,
    is_plain,
    is_plain_leaf,
    literal_json,
    settled_json,
)
from hoglet.hog.runtime.values import LARGEST_INTEGER, display_key, type_name


def _is_plain_object(value: Any) -> bool:
    return type(value) is dict and not is_tagged(value) and has_text_keys(value)


def each(value: Any) -> Iterable[Any]:
    """The values that ``for (let v in value)`` iterates over, not imported, and not modified."""
    if type(value) is list:
        return value
    if _is_plain_object(value):
        return value.values()
    value = import_value(value)
    return value if isinstance(value, list) else value.values() if type(value) is dict else ()


def each_pair(value: Any) -> Iterable[tuple[Any, Any]]:
    """The pairs that ``for (let k, v in value)`` iterates over; ``v`` is not imported."""
    if _is_plain_object(value):
        return value.items()
    value = import_value(value)
    if isinstance(value, list):
        return enumerate(value)
    return [(display_key(k), v) for k, v in value.items()] if type(value) is dict else ()


def items(value: Any) -> list[Any]:
    """The items that ``arrayMap`` and similar functions iterate over, not imported."""
    return value if type(value) is list else list(each(value))


def keys(value: Any) -> Any:
    """``keys(value)``."""
    if _is_plain_object(value):
        return list(value)
    value = import_value(value)
    if type(value) is dict:
        return [display_key(key) for key in value]
    return list(range(len(value))) if isinstance(value, list) else []


def has_key(value: Any, key: Any) -> bool:
    """``key in keys(value)``."""
    if type(value) is dict and type(key) is str and not is_tagged(value):
        return key in value
    return contains(key, keys(value))


def type_of(value: Any) -> str:
    """``typeof(value)``."""
    kind = type(value)
    if kind is dict:
        return type_name(import_value(value)) if is_tagged(value) else type_name(value)
    return _TYPE_NAMES.get(kind) or type_name(import_value(value))


_TYPE_NAMES: Final = {
    str: "string",
    int: "integer",
    bool: "boolean",
    list: "array",
    type(None): "null",
}


def has(value: Any, item: Any) -> bool:
    """``has(value, item)``."""
    if type(value) is list and type(item) is str:
        return item in value
    value = import_value(value)
    return isinstance(value, list) and member(item, value)


def is_in(needle: Any, value: Any) -> bool:
    """``needle in value``."""
    if type(needle) is str and (type(value) is list or _is_plain_object(value)):
        return needle in value
    return contains(needle, import_value(value))


def is_not_in(needle: Any, value: Any) -> bool:
    """``needle not in value``."""
    return not is_in(needle, value)


def equals_text(left: Any, right: Any) -> bool:
    """``left == right`` of host data and a literal string; arrays and objects never equal one."""
    value = right if type(left) is str else left
    kind = type(value)
    if value is None or kind is list or (kind is dict and not is_tagged(value)):
        return False
    return equal(import_value(left), import_value(right))


def differs_from_text(left: Any, right: Any) -> bool:
    """``left != right`` of host data and a literal string."""
    return not equals_text(left, right)


def same_import(value: Any, known: dict[int, tuple[Any, Any]]) -> Any:
    """:func:`import_value` that returns the same object for the same object of the host.

    ``known`` has the imports of the parts of one copy of host data.
    """
    kind = type(value)
    if kind is not dict and kind is not list:
        return import_value(value)
    entry = known.get(id(value))
    if entry is None:  # the entry keeps the value alive, and so its identity
        try:
            entry = known[id(value)] = value, _same_parts(value, known)
        except RecursionError:
            raise EngineError("The value nests too deeply") from None
    return entry[1]


def _same_parts(value: Any, known: dict[int, tuple[Any, Any]]) -> Any:
    if type(value) is list:
        return [item if type(item) is str else same_import(item, known) for item in value]
    if not _is_plain_object(value):
        return import_value(value)
    return {key: same_import(item, known) for key, item in value.items()}


def edited(value: Any, *paths: tuple[str, ...]) -> Any:
    """The value with copies of the objects at the root and at the paths, shorter paths first.

    Other values there are imported; writes to them fail as usual.
    """
    if type(value) is not dict or is_tagged(value):
        return import_value(value)
    copy = value.copy()  # other keys are converted on export
    for path in paths:
        holder, last = copy, path[-1]
        if len(path) > 1:
            for key in path[:-1]:
                holder = holder.get(key) if type(holder) is dict else None
        if type(holder) is dict and last in holder:
            item = holder[last]
            is_plain = type(item) is dict and not is_tagged(item)
            holder[last] = item.copy() if is_plain else import_value(item)
    return copy


def edited_repeatedly(value: Any, *paths: tuple[str, ...]) -> Any:
    """:func:`edited` of a program that writes in a loop or function, see :func:`host_json`."""
    run = current()
    run.writes_repeatedly, run.is_settled = True, False
    return edited(value, *paths)


def part(value: Any) -> str:
    """The value inside a string: null is empty."""
    if type(value) is int and -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
        return str(value)
    if type(value) is float:
        return number_text(value)
    return "" if value is None else as_text(import_value(value))


def to_string(value: Any, _zone: Any = None) -> str:
    """``toString(value)``."""
    return "null" if value is None else part(value)


def printed_host(value: Any) -> str:
    """The value as ``print`` shows it."""
    kind = type(value)
    if kind is not dict and kind is not list:
        return number_text(value) if kind is float else printed(import_value(value))
    try:
        code = host_json(value)
    except (TypeError, RecursionError):  # not plain JSON data
        return printed(import_value(value))
    if len(code) <= _SHORT_JSON and _prints_as_json(value):
        text = printed_from_json(code)
        return nested(value, []) if text is None else text
    if has_tag(code):
        return printed(import_value(value))
    if has_odd_float(code):
        code = settled_json(value, code)
    elif orjson.loads(code) != value:  # tuples are arrays in JSON, and NaN is null
        code = None
    text = None if code is None else printed_from_json(code)
    return nested(value, []) if text is None else text


_SHORT_JSON: Final = 8192
"""Longer JSON is faster tested as text."""


def _prints_as_json(value: Any) -> bool:
    """Whether the JSON of host data needs no change but quotes and spaces to be printed."""
    for item in value.values() if type(value) is dict else value:
        kind = type(item)
        if kind not in _TYPE_NAMES:
            if kind is not dict and not (kind is float and is_plain_leaf(item)):
                return False
            if kind is dict and not _prints_as_json(item):
                return False
        elif kind is list and not _prints_as_json(item):
            return False
    return type(value) is list or not is_tagged(value)


def printed_literal(value: Any) -> str | None:
    """A literal with host data in it as it prints; None if that has to be imported first."""
    code = literal_json(value)
    if code is None or orjson.loads(code) != value:  # tuples are arrays in JSON, and NaN is null
        return None
    return printed_from_json(code)


def print_line(is_host_data: Sequence[bool], *values: Any) -> None:
    """``print(…)`` of values of which some are host data."""
    texts = [
        value if type(value) is str else (printed_host if is_raw else printed)(value)
        for is_raw, value in zip(is_host_data, values, strict=True)
    ]
    current().write_line(" ".join(texts))


def concat(is_host_data: Sequence[bool], *values: Any) -> str:
    """``concat(…)`` of values of which some are host data."""
    pairs = zip(is_host_data, values, strict=True)
    return joined(*[part(value) if is_raw else value for is_raw, value in pairs])


class HostValue:
    """Host data as the result of a program: copied at most once, when it is exported."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def exported(value: Any, shared: bool = False) -> Any:  # noqa: FBT001, FBT002 (for speed)
    """The result of a program as plain data: its own values, which nothing else refers to any more.

    A tuple of one holds plain data, which the program has checked itself. Parts of the host's data
    are copied, unless they may be ``shared``.
    """
    kind = type(value)
    if kind is tuple:
        return value[0]
    if kind is not HostValue:
        return value if is_plain(value) else export_value(value)
    value = value.value
    if type(value) is not dict and type(value) is not list:
        return export_value(import_value(value))
    try:
        text = host_json(value)
    except (TypeError, RecursionError):  # not plain JSON data
        return settled_copy(value)
    if has_tag(text):
        return settled_copy(value)
    return value if shared and not has_whole_float(text) else copied(value, text)
