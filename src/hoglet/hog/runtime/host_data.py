"""Looking at the host's data as it stands, without a copy of its own for the program.

The results are those of the library's functions on the imported value; only what a result holds is
imported. Whatever is not plain JSON data (tagged dates, keys that are no text) takes the long way.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec
import orjson
import re2

from hoglet.hog.runtime.compare import contains, member
from hoglet.hog.runtime.convert import export_value, has_text_keys, import_value, is_tagged
from hoglet.hog.runtime.json_text import PLAIN_DATA
from hoglet.hog.runtime.regex import is_found
from hoglet.hog.runtime.values import display_key, type_name


def _is_plain_object(value: Any) -> bool:
    return type(value) is dict and not is_tagged(value) and has_text_keys(value)


def each(value: Any) -> Iterable[Any]:
    """What ``for (let v in value)`` goes through, not imported; nobody changes it meanwhile."""
    if type(value) is list:
        return value
    if _is_plain_object(value):
        return value.values()
    value = import_value(value)
    return value if isinstance(value, list) else value.values() if type(value) is dict else ()


def each_pair(value: Any) -> Iterable[tuple[Any, Any]]:
    """What ``for (let k, v in value)`` goes through; ``v`` is not imported."""
    if _is_plain_object(value):
        return value.items()
    value = import_value(value)
    if isinstance(value, list):
        return enumerate(value)
    return [(display_key(k), v) for k, v in value.items()] if type(value) is dict else ()


def items(value: Any) -> list[Any]:
    """What ``arrayMap`` and its kin go through, not imported."""
    return value if type(value) is list else list(each(value))


def keys(value: Any) -> Any:
    """``keys(value)``."""
    if _is_plain_object(value):
        return list(value)
    value = import_value(value)
    if type(value) is dict:
        return [display_key(key) for key in value]
    return list(range(len(value))) if isinstance(value, list) else []


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


def edited(value: Any, *paths: tuple[str, ...]) -> Any:
    """The value with objects of its own at the top and at the paths, shorter paths first.

    What is no plain object there is imported, and refuses to be written to by itself.
    """
    if not _is_plain_object(value):
        return import_value(value)
    copy = value.copy()
    for path in paths:
        holder = copy
        for key in path[:-1]:
            holder = holder.get(key) if type(holder) is dict else None
        if type(holder) is dict and path[-1] in holder:
            item = holder[path[-1]]
            holder[path[-1]] = item.copy() if _is_plain_object(item) else import_value(item)
    return copy


class HostValue:
    """The host's data as the result of a program: it is copied once, on its way out."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def exported(value: Any) -> Any:
    """What a program returned, as plain data of its own."""
    if type(value) is not HostValue:
        return export_value(value)
    value = value.value
    try:
        text = orjson.dumps(value, None, PLAIN_DATA)
    except (TypeError, RecursionError):  # no plain JSON data
        return export_value(import_value(value))
    if is_found(_CHANGES, text):
        return export_value(import_value(value))
    return msgspec.to_builtins(value)


_CHANGES: Final = re2.compile(r'"__hog|\.0[\],}]|\A-?[0-9.]+\.0\z')
"""What may be a tagged form or a whole float, which becomes an integer."""
