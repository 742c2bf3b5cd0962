"""Printing of values: at top level, nested, and inside strings.

Source: docs/spec/hog-language.md#8-printing.
"""

import re
from typing import Any, Final

import msgspec
import orjson

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.dates import date_text, datetime_text
from hoglet.hog.runtime.numbers import number_text
from hoglet.hog.runtime.plain_data import PLAIN_DATA, bounded_json, has_odd_float, settled_json
from hoglet.hog.runtime.sql_text import sql_text
from hoglet.hog.runtime.text import mend
from hoglet.hog.runtime.values import (
    HogDate,
    HogDateTime,
    HogError,
    HogTuple,
    display_key,
    function_signature,
    is_function,
)

_ESCAPES: Final = str.maketrans(
    {
        "\b": "\\b",
        "\f": "\\f",
        "\r": "\\r",
        "\n": "\\n",
        "\t": "\\t",
        "\0": "\\0",
        "\v": "\\v",
        "\\": "\\\\",
    }
)
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")


def quoted(text: str) -> str:
    """A string as it prints inside others: in single quotes, with escapes."""
    plain = repr(text)
    if len(plain) == len(text) + 2 and plain[0] == "'":
        return plain  # nothing in it is escaped, and there is no quote
    return "'" + text.translate(_ESCAPES).replace("'", "\\'") + "'"


def identifier(name: str) -> str:
    """A name, in backticks if necessary."""
    if _IDENTIFIER.match(name):
        return name
    return "`" + name.translate(_ESCAPES).replace("`", "``") + "`"


def printed(value: Any) -> str:
    """A value as ``print`` shows it; text is raw."""
    kind = type(value)
    if kind is str:
        return value
    if kind is dict or kind is list:
        text = _printed_by_json(value)
        if text is not None:
            return text
    if kind is float:
        return number_text(value)
    return str(value) if kind is int else nested(value, [])


def printed_plain(value: Any) -> str:
    """:func:`printed` of plain data of few parts."""
    try:
        text = printed_from_json(orjson.dumps(value, None, PLAIN_DATA))
    except (TypeError, RecursionError):  # lone surrogates, integers beyond 2^53
        return printed(value)
    return nested(value, []) if text is None else text


def _printed_by_json(value: Any) -> str | None:
    """An array or object as it prints, written by C code; None if Python has to write it."""
    try:
        bounded = bounded_json(value)
        if bounded is None:
            return None
        code, has_floats, has_extreme = bounded
        if has_floats and has_odd_float(code, has_extreme):
            code = settled_json(value, code)
        elif has_extreme and orjson.loads(code) != value:
            return None
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
    return None if code is None else printed_from_json(code)


def printed_from_json(code: bytes) -> str | None:
    """The JSON of an array or object as it prints; None if more than quotes and spaces differ.

    They do for control characters and SQL. Numbers have to be written as Hog writes them.
    """
    text: str | None = _spaced(code, indent=0).decode()
    text = _requoted(text) if "\\" in text else text.replace("'", "\\'").replace('"', "'")
    if text is None or "__hx_ast" in text:
        return None
    if len(text) > meter.LARGE:
        meter.charge(len(text))
    return text


_spaced: Final = msgspec.json.format


def _requoted(text: str) -> str | None:
    """JSON with strings in single quotes, None if it has control characters.

    Other escapes are the same when printing. JSON does not contain the characters 0 and 1.
    """
    if "\\\\" not in text:  # each backslash begins an escape
        if "\\u" in text:
            return None
        text = text.replace('\\"', "\1")
    elif text.count("\\") * _RARE < len(text):
        marked = _marked(text)
        if marked is None:
            return None
        text = marked
    elif "\\u" in text:
        return None
    else:
        text = text.replace("\\\\", "\0").replace('\\"', "\1").replace("\0", "\\\\")
    if "'" in text:
        text = text.replace("'", "\\'")
    return text.replace('"', "'").replace("\1", '"')


_RARE: Final = 16
"""Searching for two characters takes this much less for each character than a turn of a loop."""


def _marked(text: str) -> str | None:
    """JSON with few escapes; its escaped quotes are replaced by character 1."""
    first, *parts = text.split("\\")
    pieces, is_escape = [first], True
    for part in parts:
        if not is_escape:  # the second half of a backslash
            pieces.append("\\" + part)
            is_escape = True
        elif part[:1] == '"':
            pieces.append("\1" + part[1:])
        elif not part:
            pieces.append("\\")
            is_escape = False
        elif part[0] == "u":
            return None
        else:
            pieces.append("\\" + part)
    return "".join(pieces)


def as_text(value: Any) -> str:
    """``toString``: as printed, but dates in ISO form."""
    kind = type(value)
    if kind is str:
        return value
    if kind is int:
        return str(value)
    if kind is float:
        return number_text(value)
    if kind is HogDate:
        return date_text(value)
    if kind is HogDateTime:
        return datetime_text(value)
    is_container = kind is dict or kind is list
    return printed(value) if is_container else meter.charged(nested(value, []))


def joined(*values: Any) -> str:
    """``concat``: null is empty, other values are formatted by :func:`as_text`."""
    parts = [v if type(v) is str else "" if v is None else as_text(v) for v in values]
    size = sum(map(len, parts))
    if size > meter.LARGE:
        meter.charge(size)
    text = "".join(parts)
    return text if text.isascii() else mend(text)


def nested(value: Any, path: list[int]) -> str:  # noqa: PLR0911 (one line a type)
    """A value inside others; ``path`` holds the identities of the containers being printed."""
    kind = type(value)
    if kind is str:
        return quoted(value)
    if value is None:
        return "null"
    if kind is int:
        return str(value)
    if kind is float:
        return number_text(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is list or (kind is dict and "__hx_ast" not in value):
        return _container(value, path)
    simple = _SIMPLE.get(kind)
    if simple is not None:
        return simple(value)
    if is_function(value):
        name, arity = function_signature(value)
        return f"fn<{identifier(name)}({number_text(arity)})>"
    if kind is dict and "__hx_ast" in value:
        return sql_text(value, lambda inner: nested(inner, path))
    return _container(value, path)


def _container(value: Any, path: list[int]) -> str:
    if id(value) in path:
        return "null"
    meter.poll()
    path.append(id(value))
    try:
        if type(value) is dict:
            text = f"{{{_pairs(value, path)}}}"
        else:
            if len(value) <= meter.LARGE:
                inner = ", ".join([nested(item, path) for item in value])
            else:
                parts = meter.chunks(value)
                inner = ", ".join([", ".join([nested(i, path) for i in part]) for part in parts])
            text = f"[{inner}]" if type(value) is list else _tuple_text(len(value), inner)
    finally:
        path.pop()
    return meter.charged(text)


def _pairs(value: dict[Any, Any], path: list[int]) -> str:
    parts = (value.items(),) if len(value) <= meter.LARGE else meter.chunks(list(value.items()))
    return ", ".join(
        [
            f"{quoted(key)}: {quoted(item) if type(item) is str else nested(item, path)}"
            if type(key) is str
            else f"{nested(display_key(key), path)}: {nested(item, path)}"
            for part in parts
            for key, item in part
        ]
    )


def _tuple_text(length: int, inner: str) -> str:
    return f"tuple({inner})" if length < 2 else f"({inner})"


def _error(value: HogError) -> str:
    message = nested(value.message, [])
    payload = value.payload if truthy_payload(value.payload) else None
    tail = "" if payload is None else f", {nested(payload, [])}"
    name = value.type if type(value.type) is str else nested(value.type, [])
    return f"{name}({message}{tail})"


def truthy_payload(payload: Any) -> bool:
    """Whether a payload is shown."""
    if payload is None or payload is False or payload == "":
        return False
    return not (type(payload) in (int, float) and (payload == 0 or payload != payload))  # noqa: PLR0124


def _date(value: HogDate) -> str:
    return f"Date({value.year}, {value.month}, {value.day})"


def _datetime(value: HogDateTime) -> str:
    seconds = number_text(value.seconds)
    point = "" if "." in seconds else ".0"
    return f"DateTime({seconds}{point}, {quoted(value.zone)})"


_SIMPLE: Final[dict[type, Any]] = {HogDate: _date, HogDateTime: _datetime, HogError: _error}

__all__ = ["HogTuple", "as_text", "identifier", "joined", "nested", "printed", "quoted"]
