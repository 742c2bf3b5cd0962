"""Converts values between the host's plain JSON data and Hog.

Both directions copy, so neither a program nor its host can modify the other's data.

Source: docs/spec/hog-language.md#4-values (tagged forms) and 8 (``jsonStringify``).
"""

import math
from collections.abc import Callable
from typing import Any

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.formatting import as_text
from hoglet.hog.runtime.numbers import LARGEST_INTEGER, number_text, to_float
from hoglet.hog.runtime.values import (
    HogDate,
    HogDateTime,
    HogError,
    HogTuple,
    display_key,
    is_function,
    is_number,
)

DEEPEST = 200  # JSON readers and writers around us stop at about 250


def import_value(value: Any) -> Any:
    """Plain data as a Hog value: a deep copy with tagged forms converted.

    ``{"__hogDate__": True, "year": 2024, "month": 5, "day": 3}`` becomes a HogDate.
    """
    kind = type(value)
    if kind in _AS_IS:
        return value
    if kind is int:
        return value if -LARGEST_INTEGER <= value <= LARGEST_INTEGER else to_float(value)
    try:
        return _imported(value)
    except RecursionError:
        raise EngineError("The value nests too deeply") from None


_AS_IS = frozenset({str, float, bool, type(None)})


def _imported(value: Any) -> Any:
    """Anything but scalars."""
    if type(value) is dict:
        return _imported_object(value)
    if isinstance(value, list):
        return [
            item
            if (kind := type(item)) in _AS_IS
            else import_value(item)
            if kind is int
            else _imported(item)
            for item in value
        ]
    if isinstance(value, tuple):
        return HogTuple([import_value(item) for item in value])
    if isinstance(value, dict):
        return _imported_object(dict(value))
    known = isinstance(value, HogDate | HogDateTime | HogError) or is_function(value)
    return value if known else str(value)


def _imported_object(value: dict[Any, Any]) -> Any:
    if is_tagged(value):
        tagged = untagged(value)
        if tagged is not None:
            return tagged
    if not has_text_keys(value):
        value = {key if type(key) is str else str(key): item for key, item in value.items()}
    copy = value.copy()
    for key, item in value.items():
        kind = type(item)
        if kind in _AS_IS:
            continue
        if kind is not int:
            copy[key] = _imported(item)
        elif not -LARGEST_INTEGER <= item <= LARGEST_INTEGER:
            copy[key] = to_float(item)
    return copy


def has_text_keys(value: dict[Any, Any]) -> bool:
    """Whether all keys are text; joining them is the fastest test there is."""
    try:
        "".join(value)
    except TypeError:
        return False
    return True


def is_tagged(value: dict[Any, Any]) -> bool:
    """Whether an object may be the tagged form of a date or an error."""
    return "__hogDate__" in value or "__hogDateTime__" in value or "__hogError__" in value


def untagged(value: dict[Any, Any]) -> Any:
    """The date or error of a tagged form, None for other objects."""
    if value.get("__hogDateTime__") is True:
        seconds: Any = value.get("dt")
        zone = value.get("zone")
        if is_number(seconds):
            return HogDateTime(seconds, zone if type(zone) is str else "UTC")
    if value.get("__hogDate__") is True:
        parts: list[Any] = [value.get("year"), value.get("month"), value.get("day")]
        if all(is_number(part) and math.isfinite(part) for part in parts):
            return HogDate(*(int(part) for part in parts))
    if value.get("__hogError__") is True:
        payload = import_value(value.get("payload"))
        return HogError(value.get("type"), value.get("message"), payload)
    return None


def export_value(value: Any) -> Any:
    """A Hog value as plain data.

    Whole numbers become ints, tuples lists, dates and errors their tagged forms, functions their
    printed text; keys become text, and a container inside itself null.

    Raises:
        EngineError: it nests deeper than 200.
    """
    return export_with(value, _whole)


def export_with(value: Any, number: Callable[[float], Any]) -> Any:
    """:func:`export_value` with a function of one's own for floats."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is float:
        return number(value)
    return _exported(value, number, _Path())


class _Path(list[int]):
    """Identities of the containers being copied, and the bytes that the whole copy may have.

    Values may share parts: without a limit, a few kilobytes of them become gigabytes.
    """

    def __init__(self) -> None:
        self.left = meter.largest_value()  # without super(): a new list is empty

    def take(self, size: int) -> None:
        """Account for ``size`` bytes."""
        self.left -= size
        if self.left < 0:
            meter.refuse_larger()
        meter.poll()


def _exported(value: Any, number: Callable[[float], Any], path: _Path) -> Any:
    """Anything but plain scalars and floats."""
    if not isinstance(value, dict | list):
        return as_text(value) if is_function(value) else tagged_form(value, number, path)
    if id(value) in path:
        return None
    if len(path) > DEEPEST:
        raise EngineError("The value nests too deeply")
    if isinstance(value, list):
        return _items(value, number, path)
    if len(value) <= meter.LARGE and has_text_keys(value):
        return _object(value, number, path)
    keys = [key if type(key) is str else key_text(key) for key in value]
    return dict(zip(keys, _items(list(value.values()), number, path, value), strict=True))


def _object(value: dict[str, Any], number: Callable[[float], Any], path: _Path) -> dict[str, Any]:
    """An object of moderate size with text for keys: a copy in which a few items are replaced."""
    copy = value.copy()
    size = 8 * len(value) + 8
    containers: list[str] = []  # list[str]() takes ten times as long
    for key, item in value.items():
        kind = type(item)
        if kind is str:
            size += len(item)
        elif kind is float:
            if number is not _whole or item.is_integer():
                copy[key] = number(item)
        elif kind not in PLAIN:
            containers.append(key)
    path.take(size)
    if containers:
        path.append(id(value))
        for key in containers:
            copy[key] = _exported(copy[key], number, path)
        path.pop()
    return copy


def _items(
    items: list[Any], number: Callable[[float], Any], path: _Path, holder: Any = None
) -> list[Any]:
    """The items of a list, or of another ``holder``, which may not hold itself."""
    path.take(8 * len(items) + 8 + sum([len(item) for item in items if type(item) is str]))
    path.append(id(items if holder is None else holder))
    parts = (items,) if len(items) <= meter.LARGE else meter.chunks(items)
    copy = [
        item
        if (kind := type(item)) in PLAIN
        else number(item)
        if kind is float
        else _exported(item, number, path)
        for part in parts
        for item in part
    ]
    path.pop()
    return copy


def _whole(value: float) -> int | float:
    if value.is_integer() and abs(value) <= LARGEST_INTEGER:
        return int(value)
    return value


PLAIN = frozenset({str, int, bool, type(None)})


def key_text(key: Any) -> str:
    """A stored key as the text of a JSON key."""
    visible = display_key(key)
    return number_text(visible) if is_number(visible) else as_text(visible)


def tagged_form(
    value: Any, number: Callable[[float], Any] = _whole, path: _Path | None = None
) -> dict[str, Any]:
    """``{"__hogDate__": True, ...}`` and its siblings."""
    if type(value) is HogDate:
        return {"__hogDate__": True, "year": value.year, "month": value.month, "day": value.day}
    if type(value) is HogDateTime:
        seconds = value.seconds
        visible = number(seconds) if type(seconds) is float else seconds
        return {"__hogDateTime__": True, "dt": visible, "zone": value.zone}
    kind, message, payload = _items(
        [value.type, value.message, value.payload], number, _Path() if path is None else path
    )
    form = {"__hogError__": True, "type": kind, "message": message}
    return form if payload is None else form | {"payload": payload}
