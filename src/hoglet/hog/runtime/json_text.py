"""Parses and writes JSON.

Source: docs/spec/hog-language.md#8-printing (``jsonStringify``, ``jsonParse``).
"""

import json
import math
from json.encoder import encode_basestring  # type: ignore[attr-defined]
from typing import Any, Final

import msgspec
import orjson

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.convert import (
    export_value,
    export_with,
    import_value,
)
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.host_json import host_json
from hoglet.hog.runtime.numbers import LARGEST_INTEGER, number_text
from hoglet.hog.runtime.plain_data import (
    PLAIN_DATA,
    bounded_json,
    has_odd_float,
    has_tag,
    is_moderate,
    literal_json,
    settled_json,
)
from hoglet.hog.runtime.values import CONTAINERS

_SMALL: Final = 32_768  # shorter texts are parsed without counting their values first


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
    try:
        code = orjson.dumps(value, None, orjson.OPT_STRICT_INTEGER)
    except (TypeError, RecursionError):  # integers beyond 2^53
        return import_value(value)
    is_tagged = has_tag(code) if "\\" in text else "__hog" in text
    return import_value(value) if is_tagged else value


def _parse_slowly(text: str) -> Any:
    """Parse what the fast parser rejects: lone surrogates, out-of-range numbers, deep nesting."""
    try:
        return json.loads(text, parse_int=_integer, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nests too deeply") from None


def _integer(text: str) -> int | float:
    """Python reads at most 4300 digits as an integer."""
    return int(text) if len(text) < 400 else float(text)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def write_json(value: Any, indent: int = 0) -> str:
    """Write JSON: compact, or one item per line with ``indent`` spaces per level."""
    try:
        text = _fast(value) if not indent else _pretty(value, indent)
    except RecursionError:
        raise EngineError("The value nests too deeply") from None
    if len(text) > meter.LARGE:
        meter.charge(len(text))
    return text


def write_host_json(value: Any) -> str:
    """Host data as compact JSON, as :func:`write_json` writes the imported value."""
    try:
        text = host_json(value)
    except (TypeError, RecursionError):
        return write_json(import_value(value))
    if text[0] in _STARTS_NUMBER or has_odd_float(text) or has_tag(text):
        return write_json(import_value(value))
    return meter.charged(text.decode())


def write_plain_json(value: Any) -> str:
    """Plain data of few parts, see :mod:`hoglet.hog.python.codegen.plain_values`, as JSON."""
    try:
        text = orjson.dumps(value, None, PLAIN_DATA).decode()
    except (TypeError, RecursionError):  # lone surrogates, integers beyond 2^53
        return write_json(value)
    if len(text) > meter.LARGE:
        meter.charge(len(text))
    return text


def write_literal_json(value: Any) -> str | None:
    """A literal with host data in it as compact JSON; None if that has to be imported first."""
    code = literal_json(value)
    return None if code is None else meter.charged(code.decode())


_STARTS_NUMBER: Final = b"-0123456789"


def _fast(value: Any) -> str:
    if type(value) is float:
        return _without_plain(value)
    try:
        bounded = bounded_json(value, _tuple_items)
    except TypeError:  # dates, functions, keys other than strings
        return _without_plain(value)
    except (ValueError, OverflowError, RecursionError):  # lone surrogates
        bounded = None
    if bounded is None:
        return _compact(export_value(value))
    text, has_floats, has_extreme = bounded
    if has_floats and has_odd_float(text, has_extreme):
        settled = settled_json(value, text)
        return _without_plain(value) if settled is None else settled.decode()
    return text.decode()


def _tuple_items(value: Any) -> Any:
    return list(value)


def _without_plain(value: Any) -> str:
    """The text of a value with dates, errors, functions or unusual numbers."""
    try:
        if is_moderate(value):
            return _exact(value)
    except (TypeError, ValueError, RecursionError):
        pass
    return _compact(export_value(value))


def _exact(value: Any) -> str:
    """Write JSON with numbers formatted as in JavaScript."""
    return orjson.dumps(export_with(value, _written)).decode()


def _written(number: float) -> Any:
    if number.is_integer() and abs(number) <= LARGEST_INTEGER:
        return int(number)
    if 1e-4 <= abs(number) < 1e16 and not number.is_integer():
        return number
    if not math.isfinite(number):
        return None
    return orjson.Fragment(number_text(number))


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


def _pretty(value: Any, indent: int) -> str:
    """JSON with one item per line; the compact text is reformatted in C unless it nests a lot."""
    compact = _fast(value)
    depth = compact.count("[") + compact.count("{")  # at most
    lines = compact.count(",") + 2 * depth
    if indent * depth * lines <= _MAX_SPACES:
        try:
            return msgspec.json.format(compact.encode(), indent=indent).decode()
        except msgspec.DecodeError:  # lone surrogates
            pass
    return _indented(export_value(value), indent, 0)


_MAX_SPACES: Final = 1_000_000
"""Text is reformatted in one piece, without budget checks."""


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
