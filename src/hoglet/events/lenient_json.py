"""Parses JSON as clients write it, so that one odd value does not cost its event or batch. Pure.

| written | read as |
|---|---|
| a number beyond 64 bits, or beyond the range of doubles | see :mod:`hoglet.kit.json_numbers` |
| ``NaN``, ``Infinity``, ``-Infinity`` | null |
| half a surrogate pair, invalid UTF-8 | U+FFFD |
| values nested deeper than parsers can read, in up to 256 KB | cut at a depth that callers reject |
"""

import json
import re
from typing import Any

import orjson

from hoglet.kit.json import without_surrogates
from hoglet.kit.json_numbers import read_float, read_integer

_CUT_DEPTH = 200  # callers reject a depth of 128; Python's parser reads about 1000
_CUT_BYTES = 256 * 1024  # cutting visits each bracket: 20 MB of them took nine seconds
# A hook makes the parser three times slower, so it is passed only if these find a match.
_LONG_NUMBER = re.compile(rb"[0-9]{19}")
_LARGE_EXPONENT = re.compile(rb"[eE]\+?[0-9]{3}")
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def parse_leniently(text: bytes) -> Any:
    """The value of JSON text; as fast as orjson for text that it accepts.

    Raises:
        ValueError: not JSON, or a long text that is nested too deeply.

    Example:
        >>> parse_leniently(b'[1e400, NaN, 18446744073709551616, "a"]')
        ['1e400', None, 1.8446744073709552e+19, 'a']
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return _parse_slowly(text)
    except RecursionError:
        return _parse_slowly(_cut_deep_values(text))


def _parse_slowly(text: bytes) -> Any:
    has_long = _LONG_NUMBER.search(text) is not None
    value = json.loads(
        text.decode("utf-8", "replace").removeprefix("\ufeff"),
        parse_int=read_integer if has_long else None,
        parse_float=read_float if has_long or _LARGE_EXPONENT.search(text) else None,
        parse_constant=_null,
    )
    return without_surrogates(value)


def _null(_name: str) -> None:
    return None


def _cut_deep_values(text: bytes) -> bytes:
    """The text with 0 in place of every array and object below ``_CUT_DEPTH``."""
    if len(text) > _CUT_BYTES:
        raise ValueError("nested too deeply")
    parts: list[bytes] = []
    depth = copied_to = 0
    for token in _TOKENS.finditer(text):
        match token[0]:
            case b"[" | b"{":
                depth += 1
                if depth == _CUT_DEPTH + 1:
                    parts += [text[copied_to : token.start()], b"0"]
            case b"]" | b"}":
                depth -= 1
                if depth == _CUT_DEPTH:
                    copied_to = token.end()
            case _:  # a string, which may hold brackets
                pass
    if depth > _CUT_DEPTH:
        raise ValueError("unexpected end of data")
    return b"".join([*parts, text[copied_to:]])
