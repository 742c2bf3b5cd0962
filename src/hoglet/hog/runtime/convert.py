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
    is_function,
    is_number,
    shown_key,
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
    if isinstance(value, dict):
        return _imported_dict(value)
    if isinstance(value, list):
        return [item if type(item) in _AS_IS else import_value(item) for item in value]
    if isinstance(value, tuple):
        return HogTuple([import_value(item) for item in value])
    known = isinstance(value, HogDate | HogDateTime | HogError) or is_function(value)
    return value if known else str(value)


def _imported_dict(value: dict[Any, Any]) -> Any:
    if not value.keys().isdisjoint(_TAGS):
        tagged = revive(value)
        if tagged is not None:
            return tagged
    try:
        "".join(value)  # the fastest way to learn that all keys are text
    except TypeError:
        value = {(key if type(key) is str else str(key)): item for key, item in value.items()}
    copied = dict(value)
    for key, item in value.items():
        if type(item) not in _AS_IS:
            copied[key] = import_value(item)
    return copied


_TAGS = frozenset({"__hogDate__", "__hogDateTime__", "__hogError__"})


def revive(value: dict[Any, Any]) -> Any:
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

    def spend(self, items: list[Any]) -> None:
        """Account for the items of a container."""
        self.left -= 8 * len(items) + 8 + sum([len(item) for item in items if type(item) is str])
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
    path.append(id(value))
    try:
        return _exported_parts(value, number, path)
    finally:
        path.pop()


def _exported_parts(
    value: dict[Any, Any] | list[Any], number: Callable[[float], Any], path: _Path
) -> Any:
    if isinstance(value, list):
        return _items(value, number, path)
    if len(value) <= meter.LARGE:
        return _small_dict(value, number, path)
    keys = [key if type(key) is str else key_text(key) for key in value]
    return dict(zip(keys, _items(list(value.values()), number, path), strict=True))


def _small_dict(
    value: dict[Any, Any], number: Callable[[float], Any], path: _Path
) -> dict[str, Any]:
    """An object in one pass; what :meth:`_Path.spend` does is done on the way."""
    copied: dict[str, Any] = {}
    size = 8 * len(value) + 8
    for name, item in value.items():
        kind = type(item)
        if kind is str:
            size += len(item)
        elif kind not in PLAIN:
            item = number(item) if kind is float else _exported(item, number, path)  # noqa: PLW2901 (the copy of it)
        copied[name if type(name) is str else key_text(name)] = item
    path.left -= size
    if path.left < 0:
        meter.refuse_larger()
    meter.poll()
    return copied


def _items(items: list[Any], number: Callable[[float], Any], path: _Path) -> list[Any]:
    path.spend(items)
    if len(items) > meter.LARGE:
        return [item for part in meter.chunks(items) for item in _part(part, number, path)]
    return _part(items, number, path)


def _part(items: list[Any], number: Callable[[float], Any], path: _Path) -> list[Any]:
    return [
        item
        if (kind := type(item)) in PLAIN
        else number(item)
        if kind is float
        else _exported(item, number, path)
        for item in items
    ]


def _whole(value: float) -> int | float:
    if value.is_integer() and abs(value) <= LARGEST_INTEGER:
        return int(value)
    return value


PLAIN = frozenset({str, int, bool, type(None)})


def key_text(key: Any) -> str:
    """A stored key as the text of a JSON key."""
    shown = shown_key(key)
    return number_text(shown) if is_number(shown) else as_text(shown)


def tagged_form(
    value: Any, number: Callable[[float], Any] = _whole, path: _Path | None = None
) -> dict[str, Any]:
    """``{"__hogDate__": True, ...}`` and its siblings."""
    if type(value) is HogDate:
        return {"__hogDate__": True, "year": value.year, "month": value.month, "day": value.day}
    if type(value) is HogDateTime:
        seconds = value.seconds
        shown = number(seconds) if type(seconds) is float else seconds
        return {"__hogDateTime__": True, "dt": shown, "zone": value.zone}
    kind, message, payload = _items(
        [value.type, value.message, value.payload], number, _Path() if path is None else path
    )
    form = {"__hogError__": True, "type": kind, "message": message}
    return form if payload is None else form | {"payload": payload}
