"""Parses and writes JSON.

Source: docs/spec/hog-language.md#8-printing (``jsonStringify``, ``jsonParse``).
"""

import json
import math
from gc import get_referents
from json.encoder import encode_basestring  # type: ignore[attr-defined]
from typing import Any, Final

import orjson
import re2

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.convert import (
    PLAIN,
    export_value,
    export_with,
    import_value,
)
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.numbers import LARGEST_INTEGER, number_text
from hoglet.hog.runtime.regex import is_found
from hoglet.hog.runtime.values import CONTAINERS, HogError, HogTuple

_SMALL: Final = 32_768  # the values of shorter texts are not counted in advance


def parse_json(text: str) -> Any:
    """Parse JSON and restore tagged dates and errors.

    Raises:
        ValueError: the text is not JSON.
        LimitExceeded: the value would exceed the memory limit.
    """
    if len(text) > _SMALL:
        nodes = text.count(",") + text.count("[") + text.count("{") + text.count(":") + 1
        meter.charge(8 * nodes + len(text))
    elif len(text) > meter.LARGE:
        meter.charge(len(text))
    try:
        value = orjson.loads(text)
    except (ValueError, UnicodeEncodeError):
        return import_value(_parse_slowly(text))
    return value if _is_as_imported(value) else import_value(value)


def _is_as_imported(value: Any) -> bool:
    """Whether importing would change nothing: no tagged forms, no integers beyond 2^53."""
    try:
        return b'"__hog' not in orjson.dumps(value, None, orjson.OPT_STRICT_INTEGER)
    except (TypeError, RecursionError):
        return False


def _parse_slowly(text: str) -> Any:
    """Parse what the fast parser rejects: lone surrogates, out-of-range numbers, deep nesting."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nests too deeply") from None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def write_json(value: Any, indent: int = 0) -> str:
    """Write JSON: compact, or one item per line with ``indent`` spaces per level."""
    try:
        text = _fast(value) if not indent else _indented(export_value(value), indent, 0)
    except RecursionError:
        raise EngineError("The value nests too deeply") from None
    if len(text) > meter.LARGE:
        meter.charge(len(text))
    return text


def write_host_json(value: Any) -> str:
    """The host's data as compact JSON text, as :func:`write_json` writes it once imported."""
    try:
        text = orjson.dumps(value, None, PLAIN_DATA)
    except (TypeError, RecursionError):
        return write_json(import_value(value))
    if is_found(_UNLIKE_HOST, text):
        return write_json(import_value(value))
    return meter.charged(text.decode())


PLAIN_DATA: Final = (
    orjson.OPT_STRICT_INTEGER | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)  # fmt: skip
"""Options that refuse whatever importing would change, but for tagged forms and whole floats."""


def _fast(value: Any) -> str:
    try:
        if _left_of(_MODERATE, value, 0) < 0:
            return _compact(export_value(value))
        return orjson.dumps(value, _tuple_items, orjson.OPT_PASSTHROUGH_SUBCLASS).decode()
    except _UnlikeJsonError:
        return _without_plain(value)
    except (TypeError, ValueError):  # odd keys, halves of characters
        return _compact(export_value(value))


class _UnlikeJsonError(Exception):
    """A value that the fast writer rejects or writes differently."""


def _left_of(size: int, value: Any, depth: int) -> int:  # noqa: C901 (one branch a type)
    """``size`` minus the size of a value; negative if it is too large or nested too deeply.

    The fast writer cannot be interrupted, and nested lists can expand to gigabytes of text.
    """
    kind = type(value)
    if kind is dict:
        size -= 8 * len(value) + sum(map(len, value))
        items = value.values()
    elif kind is list or kind is HogTuple:
        size -= 8 * len(value)
        items = value
    else:
        items = (value,)
    if size < 0 or depth > _LAYERS:
        return -1
    for item in items:
        kind = type(item)
        if kind is str:
            size -= len(item)
        elif kind is dict or kind is list or kind is HogTuple:
            size = _left_of(size, item, depth + 1)
            if size < 0:
                return -1
        elif kind is float:
            if not 1e-4 <= abs(item) < 1e16 or item.is_integer():
                raise _UnlikeJsonError
        elif kind not in PLAIN:
            raise _UnlikeJsonError
    return size - 8


_MODERATE: Final = 4 * 1024 * 1024
_LAYERS: Final = 256


def _tuple_items(value: Any) -> Any:
    return list(value)


def _without_plain(value: Any) -> str:
    """The text of a value with dates, errors, functions or odd numbers."""
    if type(value) in _NESTED and not _is_moderate(value):
        return _compact(export_value(value))
    try:
        return _exact(value)
    except (TypeError, ValueError, RecursionError):
        return _compact(export_value(value))


def _is_moderate(value: Any) -> bool:
    """Whether the text is surely no larger than some megabytes, shared parts repeated."""
    left, layer = _MODERATE, [value]
    for _ in range(_LAYERS):
        parts = get_referents(*layer)
        left -= 8 * len(parts) + sum([len(part) for part in parts if type(part) is str])
        if left < 0:
            return False
        layer = [part for part in parts if type(part) in _NESTED]
        if not layer:
            return True
    return True  # or it is rejected for its depth


_NESTED: Final = frozenset({dict, list, HogTuple, HogError})


def _exact(value: Any) -> str:
    """Write JSON with numbers formatted as in JavaScript."""
    return orjson.dumps(export_with(value, _written)).decode()


def _written(number: float) -> Any:
    if number.is_integer() and abs(number) <= LARGEST_INTEGER:
        return int(number)
    if 1e-4 <= abs(number) < 1e16:
        return number
    if not math.isfinite(number):
        return None
    return orjson.Fragment(number_text(number))


_ODD: Final = r"[:,\[]-?[0-9][0-9.]*(?:e|\.0[\],}])"
_UNLIKE_HOST: Final = re2.compile(rf'"__hog|\A-?[0-9]|{_ODD}')


def _compact(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{"
            + ",".join([f"{_string(key)}:{_compact(item)}" for key, item in value.items()])
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join([_compact(v) for part in meter.chunks(value) for v in part]) + "]"
    return _scalar(value)


def _indented(value: Any, indent: int, level: int) -> str:
    if not isinstance(value, CONTAINERS) or not value:
        return {dict: "{}", list: "[]"}.get(type(value)) or _scalar(value)
    pad = "\n" + " " * (indent * (level + 1))
    if isinstance(value, dict):
        parts = [
            f"{_string(key)}: {_indented(item, indent, level + 1)}" for key, item in value.items()
        ]
        opening, closing = "{", "}"
    else:
        parts = [_indented(item, indent, level + 1) for item in value]
        opening, closing = "[", "]"
    end = "\n" + " " * (indent * level)
    return f"{opening}{pad}{f',{pad}'.join(parts)}{end}{closing}"


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return _string(value)
    text = number_text(value)
    return text if text[-1].isdigit() else "null"


def _string(text: str) -> str:
    quoted = encode_basestring(text)
    if quoted.isascii():
        return quoted
    return "".join([f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in quoted])
