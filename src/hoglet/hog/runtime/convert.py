"""Converts values between the host's plain JSON data and Hog.

Both directions copy, so neither a program nor its host can modify the other's data.

Source: docs/spec/hog-language.md#4-values (tagged forms) and
docs/spec/hog-language.md#8-printing (``jsonStringify``).
"""

import math
from collections.abc import Callable
from typing import Any

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.formatting import as_text
from hoglet.hog.runtime.numbers import LARGEST_INTEGER, number_text, to_float
from hoglet.hog.runtime.plain_data import DEEPEST
from hoglet.hog.runtime.values import (
    CONTAINERS,
    HogDate,
    HogDateTime,
    HogError,
    HogTuple,
    display_key,
    is_function,
    is_number,
    stored_key,
)


def import_value(value: Any) -> Any:
    """Plain data as a Hog value: a deep copy with tagged forms converted.

    ``{"__hogDate__": True, "year": 2024, "month": 5, "day": 3}`` becomes a HogDate.
    """
    kind = type(value)
    if kind is int:
        if -1073741823 <= value <= 1073741823:  # ints of one digit are compared fastest
            return value
        return value if -LARGEST_INTEGER <= value <= LARGEST_INTEGER else to_float(value)
    if kind in _AS_IS:
        return value
    try:
        return _imported(value)
    except RecursionError:
        raise EngineError("The value nests too deeply") from None


_AS_IS = frozenset({str, float, bool, type(None)})


def _imported(value: Any) -> Any:
    """Import any value other than a scalar."""
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
    return value if type(value) in _OWN or is_function(value) else str(value)


_OWN = frozenset({HogDate, HogDateTime, HogError})


def _imported_object(value: dict[Any, Any]) -> Any:
    if is_tagged(value):
        tagged = untagged(value)
        if tagged is not None:
            return tagged
    copy = value.copy()
    for key, item in value.items():
        if type(key) is not str:
            return {_stored(key): import_value(item) for key, item in value.items()}
        if type(item) is str or item is None:
            continue
        kind = type(item)
        if kind is int:
            if not -LARGEST_INTEGER <= item <= LARGEST_INTEGER:
                copy[key] = to_float(item)
        elif kind is dict:
            copy[key] = _imported_object(item)
        elif kind not in _AS_IS:
            copy[key] = _imported(item)
    return copy


def _stored(key: Any) -> Any:
    """The stored key of a key that is not a string; it may already be a stored key."""
    if key is None or type(key) is str or is_number(key) or display_key(key) is not key:
        return key
    return stored_key(key) if type(key) is bool else str(key)


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

    Whole numbers become ints, tuples become lists, dates and errors their tagged forms, functions
    their printed text; keys become strings, and a container inside itself becomes null.

    Raises:
        EngineError: it is nested deeper than 200.
    """
    kind = type(value)
    if kind is dict and len(value) <= _FEW:
        copy = _flat(value)
        if copy is not None:
            return copy
    if kind is dict or kind is list:
        copy = _small(value)
        if copy is not None:
            return copy
    return export_with(value, _whole)


_FEW = 64
_SHORT = 1024  # longer strings are charged individually
_SMALL = 65_536  # bytes of a value that is copied without budget checks
_HOLDERS = 200  # so many cannot nest deeper than DEEPEST


def _flat(value: dict[Any, Any]) -> dict[str, Any] | None:
    """A copy of a small object of short strings and numbers, the usual result; else None."""
    copy = value.copy()
    for key, item in value.items():
        kind = type(item)
        if kind is str:
            if len(item) > _SHORT:
                return None
        elif kind is float:
            copy[key] = _whole(item)
        elif kind not in PLAIN:
            return None
        if type(key) is not str:
            return None
    return copy


def _small(value: Any) -> Any:  # noqa: C901 (one branch a type)
    """A copy of a small tree of objects, arrays, strings and numbers; else None.

    Shared parts are copied and counted each time, so a container inside itself exceeds the limit.
    """
    copy, left = value.copy(), _SMALL
    holders = [copy]
    for holder in holders:
        left -= 8 * len(holder)
        if left < 0 or len(holders) > _HOLDERS:
            return None
        if type(holder) is dict:
            try:
                left -= len("".join(holder))
            except TypeError:  # a key is not a string
                return None
            pairs = holder.items()
        else:
            pairs = enumerate(holder)
        for key, item in pairs:
            kind = type(item)
            if kind is str:
                left -= len(item)
            elif kind is dict or kind is list:
                holder[key] = part = item.copy()
                holders.append(part)
            elif kind is float:
                if item.is_integer():
                    holder[key] = _whole(item)
            elif kind not in PLAIN:
                return None
    return copy if left >= 0 else None


def export_with(value: Any, number: Callable[[float], Any]) -> Any:
    """:func:`export_value` with a custom conversion of floats."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is float:
        return number(value)
    return _exported(value, _Copying(number))


class _Copying:
    """State of a copy.

    Values can share parts: without a limit, a few kilobytes could expand to gigabytes.

    Attributes:
        number: converts floats.
        path: identities of the containers around the one being copied.
        left: bytes left for the rest of the copy.
    """

    __slots__ = ("left", "number", "path")

    def __init__(self, number: Callable[[float], Any]) -> None:
        self.number = number
        self.path: list[int] = []
        self.left = meter.largest_value()

    def take(self, size: int) -> None:
        """Account for ``size`` bytes."""
        self.left -= size
        if self.left < 0:
            meter.refuse_larger()

    def open(self, holder: Any) -> None:
        """Enter a container: its identity stays on the path until it is left."""
        meter.poll()
        self.path.append(id(holder))


def _exported(value: Any, copying: _Copying) -> Any:
    """Export any value other than plain scalars and floats."""
    if not isinstance(value, CONTAINERS):
        if is_function(value):
            return as_text(value)
        if type(value) in _OWN:
            return tagged_form(value, copying.number, copying)
        if not isinstance(value, tuple):
            return export_value(import_value(value))
        value = list(value)  # of the host, like other kinds of numbers and objects
    if id(value) in copying.path:
        return None
    if len(copying.path) > DEEPEST:
        raise EngineError("The value nests too deeply")
    return _object(value, copying) if type(value) is dict else _items(value, copying)


def _object(value: Any, copying: _Copying) -> dict[str, Any]:
    """A copy of an object with a few items replaced."""
    if len(value) > meter.LARGE:
        return _unusual_object(value, copying)
    copy = value.copy()
    size = 8 * len(value) + 8
    containers: list[str] = []
    for key, item in value.items():
        kind = type(item)
        if kind is str:
            size += len(item)
        elif kind is float:
            copy[key] = copying.number(item)
        elif kind not in PLAIN:
            containers.append(key)
        if type(key) is not str:
            return _unusual_object(value, copying)
    copying.take(size + sum(map(len, copy)))
    if containers:
        copying.open(value)
        for key in containers:
            copy[key] = _exported(copy[key], copying)
        copying.path.pop()
    return copy


def _unusual_object(value: Any, copying: _Copying) -> dict[str, Any]:
    """A copy of an object that is large or has non-string keys."""
    keys = [key if type(key) is str else key_text(key) for key in value]
    copying.take(sum(map(len, keys)))
    return dict(zip(keys, _items(list(value.values()), copying, value), strict=True))


def _items(items: Any, copying: _Copying, holder: Any = None) -> list[Any]:
    """The items of a list, or of another ``holder``; a container inside itself is null."""
    copying.take(8 * len(items) + 8 + sum([len(item) for item in items if type(item) is str]))
    copying.open(items if holder is None else holder)
    number = copying.number
    parts = (items,) if len(items) <= meter.LARGE else meter.chunks(items)
    copy = [
        item
        if (kind := type(item)) in PLAIN
        else number(item)
        if kind is float
        else _exported(item, copying)
        for part in parts
        for item in part
    ]
    copying.path.pop()
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
    value: Any, number: Callable[[float], Any] = _whole, copying: _Copying | None = None
) -> dict[str, Any]:
    """``{"__hogDate__": True, ...}`` and its siblings."""
    if type(value) is HogDate:
        return {"__hogDate__": True, "year": value.year, "month": value.month, "day": value.day}
    if type(value) is HogDateTime:
        seconds = value.seconds
        visible = number(seconds) if type(seconds) is float else seconds
        return {"__hogDateTime__": True, "dt": visible, "zone": value.zone}
    kind, message, payload = _items(
        [value.type, value.message, value.payload], copying or _Copying(number)
    )
    form = {"__hogError__": True, "type": kind, "message": message}
    return form if payload is None else form | {"payload": payload}
