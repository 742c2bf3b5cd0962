"""Strings as sequences of UTF-16 units, on top of Python's strings.

A character outside of the basic plane counts as two. Splitting one leaves a lone surrogate, and two
adjacent halves become the character again; all functions here maintain that. ASCII strings, the
common case, take a fast path.

Source: docs/spec/hog-language.md#4-values.
"""

import re
from typing import Final

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def units(text: str) -> bytes:
    """Encode as UTF-16, big-endian, so that bytes sort like units."""
    return text.encode("utf-16-be", "surrogatepass")


def from_units(code: bytes) -> str:
    """Decode UTF-16; adjacent surrogate halves are joined."""
    return code.decode("utf-16-be", "surrogatepass")


def unit_length(text: str) -> int:
    """Length in UTF-16 units."""
    return len(text) if text.isascii() else len(units(text)) // 2


def unit_slice(text: str, start: int, end: int) -> str:
    """``text[start:end]`` with positions in units, both 0 or more."""
    if text.isascii():
        return text[start:end]
    return from_units(units(text)[2 * start : 2 * end])


def unit_find(text: str, needle: str) -> int:
    """The 0-based position of ``needle`` in units; -1 if it is not found."""
    if has_half(needle):
        return spread(text).find(spread(needle))
    position = text.find(needle)
    return position if position <= 0 or text.isascii() else unit_length(text[:position])


def spread(text: str) -> str:
    """The text with one character per unit: halves become private-use characters."""
    if text.isascii() or max(text) < "\ud800":
        return text
    code = units(text)
    numbers = [code[index] << 8 | code[index + 1] for index in range(0, len(code), 2)]
    return "".join([chr(n + _PRIVATE if 0xD800 <= n < 0xE000 else n) for n in numbers])


def gather(text: str) -> str:
    """The inverse of :func:`spread`."""
    if not text or max(text) < _FIRST_PRIVATE:
        return text
    numbers = [n - _PRIVATE if n >= 0x10F800 else n for n in map(ord, text)]
    return mend("".join(map(chr, numbers)))


def contains_text(text: str, needle: str) -> bool:
    """Whether ``text`` contains the units of ``needle``, also half a character."""
    return spread(needle) in spread(text) if has_half(needle) else needle in text


_FIRST_PRIVATE: Final = chr(0x10F800)
_PRIVATE: Final = 0x102000  # puts the halves on U+10F800 to U+10FFFF


def order_key(text: str) -> bytes:
    """Sorting by this key is ordering by units."""
    return units(text)


def mend(text: str) -> str:
    """Join adjacent surrogate halves."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return from_units(units(text))


def has_half(text: str) -> bool:
    """Whether a string contains a lone surrogate."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def is_intact(text: str) -> bool:
    """Whether a string contains no lone surrogate."""
    return not _SURROGATE.search(text)
