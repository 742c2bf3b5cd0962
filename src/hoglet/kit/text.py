r"""Encodes text that leaves the process as valid UTF-8 or JSON.

Hog strings are sequences of UTF-16 units, so a program can split a character outside the basic
plane and produce a lone surrogate. JSON can represent it as an escape (``\ud83d``); UTF-8, msgpack,
SQL and headers cannot, so there it becomes U+FFFD, like in WHATWG's USVString.

Every encoder tries the fast path first and replaces surrogates only if it fails.

Source: docs/spec/hog-functions.md#133-functions; RFC 8259 section 8.2.
"""

import json
import re
from datetime import datetime
from typing import Any, Final

import msgspec
import orjson

from hoglet.kit.json_numbers import read_float, read_integer

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_KEPT_TYPES: Final = (bytes, bytearray, datetime)  # native types of msgpack


def replace_surrogates(text: str) -> str:
    r"""Replace lone surrogates with U+FFFD; adjacent halves become their character.

    Example:
        >>> replace_surrogates("a\ud83d")
        'a�'
    """
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def replace_surrogates_in(value: Any) -> Any:
    """Apply :func:`replace_surrogates` to every string in plain data, including keys."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, dict):
        return {
            replace_surrogates_in(key): replace_surrogates_in(item) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [replace_surrogates_in(item) for item in value]
    return value


def without_surrogates(value: Any) -> Any:
    """Plain data without lone surrogates; the value itself if it has none."""
    try:
        orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return replace_surrogates_in(value)
    return value


def encode_utf8(text: str) -> bytes:
    """UTF-8 of a string; lone surrogates become U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return replace_surrogates(text).encode()


def dump_json(value: Any, *, indent: bool = False) -> bytes:
    r"""Encode plain data as JSON for clients: lone surrogates are escaped.

    NaN and infinities become null, integers can have any size, and other types become strings.

    Args:
        value: dict, list, tuple, str, numbers, bool, None.
        indent: whether to indent by two spaces.

    Raises:
        ValueError: nested too deeply, or a container that contains itself.

    Example:
        >>> dump_json({"a": "\ud83d"})
        b'{"a":"\\ud83d"}'
    """
    options = orjson.OPT_NON_STR_KEYS | (orjson.OPT_INDENT_2 if indent else 0)
    try:
        return orjson.dumps(value, default=str, option=options)
    except TypeError:
        return _dump_slowly(value, indent=indent).encode()


def dump_storable_json(value: Any) -> str:
    """Encode JSON that every parser accepts: as :func:`dump_json`, but with U+FFFD.

    ClickHouse, PostgreSQL and orjson reject escaped lone surrogates.
    """
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        return _dump_slowly(replace_surrogates_in(value), indent=False)


def parse_json(text: bytes | str) -> Any:
    """Parse JSON; lone surrogates become U+FFFD, numbers beyond the range of doubles their text.

    Raises:
        ValueError: the text is not JSON (RFC 8259, so no NaN).
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace" if b"\\u" in text else "strict")
    return _parse_slowly(text)


def pack(encoder: msgspec.msgpack.Encoder, value: Any) -> bytes:
    """Encode msgpack; lone surrogates become U+FFFD."""
    try:
        return encoder.encode(value)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value, builtin_types=_KEPT_TYPES)
        return encoder.encode(replace_surrogates_in(plain))


def _dump_slowly(value: Any, *, indent: bool) -> str:
    try:
        text = json.dumps(
            _finite(value),
            ensure_ascii=False,
            indent=2 if indent else None,
            separators=(",", ": ") if indent else (",", ":"),
            default=str,
        )
    except RecursionError:
        raise ValueError("the value is nested too deeply for JSON") from None
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def _finite(value: Any) -> Any:
    """The value with null for non-finite numbers, and with string keys."""
    if isinstance(value, dict):
        return {_key(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and value - value != 0:
        return None
    return value


def _key(key: Any) -> str:
    return key if isinstance(key, str) else dump_json(key).decode().strip('"')


def _parse_slowly(text: str) -> Any:
    try:
        value = json.loads(
            text, parse_int=read_integer, parse_float=read_float, parse_constant=_refuse
        )
        return without_surrogates(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
