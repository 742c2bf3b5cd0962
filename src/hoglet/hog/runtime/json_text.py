"""JSON text to values and back.

Source: spec/hog-language.md section 8 (``jsonStringify``, ``jsonParse``).
"""

import json
from json.encoder import encode_basestring  # type: ignore[attr-defined]
from typing import Any, Final

import orjson
import re2

from hoglet.hog.runtime import meter
from hoglet.hog.runtime.convert import export_value, import_value
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.numbers import number_text

_NEEDS_WALK: Final = re2.compile(r'"__hog(?:Date|DateTime|Error)__"|[0-9]{16}|[eE][+]?[0-9]{2}')


def parse_json(text: str) -> Any:
    """The value of a JSON text, with dates and errors revived.

    Raises:
        ValueError: the text is no JSON.
        LimitExceeded: the value would be over the memory limit.
    """
    if len(text) > meter.LARGE:
        nodes = text.count(",") + text.count("[") + text.count("{") + text.count(":") + 1
        meter.charge(8 * nodes + len(text))
    try:
        value = orjson.loads(text)
    except (ValueError, UnicodeEncodeError):
        value = _parse_slowly(text)
    return import_value(value) if _may_need_walk(text) else value


def _may_need_walk(text: str) -> bool:
    try:
        return _NEEDS_WALK.search(text) is not None
    except UnicodeEncodeError:
        return True


def _parse_slowly(text: str) -> Any:
    """What the fast parser refuses: lone surrogates, numbers beyond the range, depth."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nests too deeply") from None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def write_json(value: Any, indent: int = 0) -> str:
    """A value as JSON text: compact, or one item a line with ``indent`` spaces a level."""
    try:
        text = _fast(value) if not indent else _indented(export_value(value), indent, 0)
    except RecursionError:
        raise EngineError("The value nests too deeply") from None
    if len(text) > meter.LARGE:
        meter.charge(len(text))
    return text


def _fast(value: Any) -> str:
    plain = export_value(value)
    try:
        text = orjson.dumps(plain)
    except (TypeError, ValueError):
        return _compact(plain)
    return _compact(plain) if _EXPONENT.search(text) else text.decode()


_EXPONENT: Final = re2.compile(rb"[0-9]e|[0-9]{16}\.0")


def _compact(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{"
            + ",".join([f"{_string(key)}:{_compact(item)}" for key, item in value.items()])
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join([_compact(item) for item in value]) + "]"
    return _scalar(value)


def _indented(value: Any, indent: int, level: int) -> str:
    if not isinstance(value, dict | list) or not value:
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
