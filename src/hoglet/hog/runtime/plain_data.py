"""Copies plain data with C code, after bounding its size: C code cannot be interrupted.

Nested arrays that each contain the next one twice are a few kilobytes of memory and gigabytes of
JSON. Detecting that in Python takes ten times as long as writing the JSON. So the JSON is written
into a buffer that cannot grow while a view of it exists: the writer fails when it is full.

Source: docs/spec/hog-language.md#4-values and docs/spec/hog-language.md#10-limits.
"""

import re
from collections.abc import Callable
from typing import Any, Final

import msgspec
import orjson
import re2

from hoglet.hog.runtime.numbers import whole
from hoglet.hog.runtime.values import LARGEST_INTEGER, HogError

DEEPEST: Final = 200  # most JSON libraries fail at about 250
_ROOM: Final = 4096  # bytes of a small value as MessagePack
_FEW: Final = 24  # larger containers are tested faster by C code
_OF_PART: Final = 60  # brackets of a part of a value that may itself nest by 125
LEAST, MOST = 1e-4, 1e16
"""JSON has other numbers below and above with exponents, which Hog may write differently."""
SHORT: Final = 1024  # longer strings are charged individually
_SCALARS: Final = frozenset({str, int, bool, type(None)})
_SIZES: Final = (8 * 1024, 128 * 1024, 4 * 1024 * 1024)


def is_moderate(value: Any) -> bool:
    """Whether the JSON of a value is at most 4 MB, shared parts repeated.

    Raises:
        TypeError: it has keys that JSON does not allow.
        ValueError: it has lone surrogates.
        RecursionError: it nests too deeply.
    """
    for size in _SIZES:
        buffer = bytearray(size)
        with memoryview(buffer):
            try:
                _write(value, buffer)
            except BufferError:
                continue
            return True
    return False


def is_small(value: Any) -> bool:
    """Whether a value takes a few kilobytes, shared parts repeated; in half the time.

    Raises:
        TypeError, ValueError, OverflowError, RecursionError: MessagePack cannot have it.
    """
    buffer = bytearray(_ROOM)
    with memoryview(buffer):  # while it exists, the buffer cannot grow
        try:
            _pack(value, buffer)
        except BufferError:
            return False
    return True


def _parts(value: Any) -> Any:
    """Replacements for values that JSON lacks: errors by their parts, others by null."""
    return [value.type, value.message, value.payload] if type(value) is HogError else None


_write: Final = msgspec.json.Encoder(enc_hook=_parts).encode_into
_pack: Final[Callable[[Any, Any], None]] = msgspec.msgpack.Encoder(enc_hook=_parts).encode_into
_PACKED_FLOAT: Final = 0xCB  # the byte before each float


_finds_extreme: Final = re.compile(
    rb"\xcb(?:[^\x3f-\x43\xbf-\xc3]|[\x3f\xbf][\x00-\x1a]|[\x43\xc3][\x41-\xff])"
).search
"""Packed floats that JSON may have with an exponent: below 0.0001003, from 1e16 on; and NaN."""


type BoundedJson = tuple[bytes, bool, bool]
"""The JSON of a value; whether it may contain floats; and extreme ones, in another form."""


def bounded_json(value: Any, default: Callable[[Any], Any] | None = None) -> BoundedJson | None:
    """The JSON of a value of a program, None if it is large.

    Args:
        value: a value of moderate size, see :func:`is_moderate`.
        default: what replaces values that JSON lacks; without it they are a TypeError.

    Raises:
        TypeError: it has such values, or keys other than strings.
        ValueError: it has lone surrogates.
        OverflowError: it has integers beyond 64 bits.
        RecursionError: it nests too deeply.
    """
    buffer = bytearray(_ROOM)
    view = memoryview(buffer)  # while it exists, the buffer cannot grow
    try:
        _pack(value, buffer)
    except BufferError:
        if not is_moderate(value):
            return None
        has_floats = has_extreme = True
    else:
        has_floats = _PACKED_FLOAT in buffer
        has_extreme = has_floats and _finds_extreme(buffer) is not None
    del view
    return orjson.dumps(value, default, PLAIN_DATA), has_floats, has_extreme


def literal_json(value: Any) -> bytes | None:
    """The JSON of a literal with host data in it, whole floats as integers.

    None if it is large or if importing the host data might change the JSON: tagged forms, large
    integers, keys other than strings, numbers that JSON writes differently.
    """
    try:
        bounded = bounded_json(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
    if bounded is None:
        return None
    code, has_floats, has_extreme = bounded
    if has_tag(code):
        return None
    is_odd = has_floats and has_odd_float(code, has_extreme)
    return settled_json(value, code) if is_odd else code


def settled_json(value: Any, code: bytes) -> bytes | None:
    """The JSON ``code`` of a value with whole floats as integers, as in Hog.

    None if it has other numbers that Hog writes differently: NaN and those with exponents.
    The comparison proves that what was removed belonged to numbers, not to strings.
    """
    if has_exponent(code):
        return None
    if code.find(b"-0.0") >= 0:
        code = _NEGATIVE_ZERO.sub(b"0", code)
    code = _WHOLE.sub(b"", code)
    return code if orjson.loads(code) == value else None


_NEGATIVE_ZERO: Final = re.compile(rb"-0\.0(?=[\],}])")
_WHOLE: Final = re.compile(rb"\.0(?=[\],}])")


PLAIN_DATA: Final = (
    orjson.OPT_STRICT_INTEGER | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)  # fmt: skip
"""Options that reject data that importing would change, except tagged forms and whole floats."""


def copied(value: Any, text: bytes) -> Any:
    """A copy of a value whose JSON by ``PLAIN_DATA`` is ``text``; whole floats become ints."""
    copy = msgspec.to_builtins(value)
    if has_whole_float(text):
        _settle(copy)
    return copy


def _settle(holder: Any) -> None:
    for key, item in holder.items() if type(holder) is dict else enumerate(holder):
        kind = type(item)
        if kind is float:
            holder[key] = whole(item)
        elif kind is dict or kind is list:
            _settle(item)


def is_plain(value: Any) -> bool:
    """Whether a value of a program is small and already plain data; False if in doubt.

    Shared parts count each time, so that a small value cannot become gigabytes of JSON.
    """
    kind = type(value)
    if kind is not dict and kind is not list:
        return kind in _SCALARS
    return (len(value) <= _FEW and _IS_FLAT[kind](value)) or _is_plain_json(value)


def is_plain_leaf(value: Any) -> bool:
    """Whether a value is a short string, a number, a boolean or null.

    The number is its own import, and JSON has it as Hog prints it.
    """
    kind = type(value)
    if kind is int:
        if -1_073_741_823 <= value <= 1_073_741_823:  # ints of one digit are compared fastest
            return True
        return -LARGEST_INTEGER <= value <= LARGEST_INTEGER
    if kind is float:
        return LEAST <= abs(value) < MOST and not value.is_integer()
    return len(value) <= SHORT if kind is str else value is None or kind is bool


def is_plain_host(value: Any) -> bool:
    """Whether host data is its own import, and JSON has it as Hog prints it: small plain data."""
    kind = type(value)
    if kind is not dict and kind is not list:
        return is_plain_leaf(value)
    return _parts_left(value, _MOST_HOST_PARTS) >= 0


def _parts_left(value: Any, left: int) -> int:
    """How many more parts than those of a value there may be; negative if it is not plain."""
    left -= len(value)
    if left < 0 or (type(value) is dict and not _has_plain_keys(value)):
        return -1
    for item in value.values() if type(value) is dict else value:
        kind = type(item)
        if kind is str and len(item) <= SHORT:
            continue
        if kind is dict or kind is list:
            left = _parts_left(item, left - 1)
        elif not is_plain_leaf(item):
            return -1
        if left < 0:
            return -1
    return left


def _has_plain_keys(value: dict[Any, Any]) -> bool:
    """Whether an object has only short strings as keys, and is no tagged form."""
    for key in value:
        if type(key) is not str or len(key) > SHORT:
            return False
    return TAGS.isdisjoint(value)


_MOST_HOST_PARTS: Final = 100
TAGS: Final = frozenset({"__hogDate__", "__hogDateTime__", "__hogError__"})


def is_plain_import(value: Any) -> bool:
    """:func:`is_plain_part` of imported data whose numbers JSON has as Hog prints them."""
    kind = type(value)
    if kind is not dict and kind is not list:
        return is_plain_leaf(value)
    if len(value) <= _FEW and _IS_FLAT[kind](value):
        return True
    return _is_plain_json(value, _OF_PART, is_odd=_is_odd)


def is_plain_part(value: Any) -> bool:
    """:func:`is_plain` of a value in a literal: it may nest less deeply."""
    kind = type(value)
    if kind is not dict and kind is not list:
        return is_plain_leaf(value)
    return (len(value) <= _FEW and _IS_FLAT[kind](value)) or _is_plain_json(value, _OF_PART)


def _is_flat(value: dict[Any, Any]) -> bool:
    """Whether an object contains nothing but plain leaves, see :func:`is_plain_leaf`."""
    for key, item in value.items():
        kind = type(item)
        if kind is str:
            if len(item) > SHORT:
                return False
        elif kind is float:
            if item.is_integer() or not LEAST <= abs(item) < MOST:
                return False
        elif kind not in _SCALARS:
            return False
        if type(key) is not str or len(key) > SHORT:
            return False
    return True


def _has_flat_items(items: list[Any]) -> bool:
    """:func:`_is_flat` of an array."""
    for item in items:
        kind = type(item)
        if kind is str:
            if len(item) > SHORT:
                return False
        elif kind is float:
            if item.is_integer() or not LEAST <= abs(item) < MOST:
                return False
        elif kind not in _SCALARS:
            return False
    return True


_IS_FLAT: Final = {dict: _is_flat, list: _has_flat_items}


def has_text_keys(value: dict[Any, Any]) -> bool:
    """Whether all keys are strings; joining them is the fastest test."""
    try:
        "".join(value)
    except TypeError:
        return False
    return True


def _is_odd(text: bytes, packed: bytearray) -> bool:
    return has_whole_float(text) or _finds_extreme(packed) is not None


def _has_whole(text: bytes, _packed: bytearray) -> bool:
    return has_whole_float(text)


def _is_plain_json(
    value: Any, most: int = DEEPEST, is_odd: Callable[[bytes, bytearray], bool] = _has_whole
) -> bool:
    """:func:`is_plain` in C: first bounded, then checked; ``is_odd`` is asked if it has floats."""
    buffer = bytearray(_ROOM)
    view = memoryview(buffer)  # while it exists, the buffer cannot grow
    try:
        _pack(value, buffer)
        text = orjson.dumps(value, None, PLAIN_DATA)
    except (BufferError, TypeError, ValueError, OverflowError, RecursionError):
        return False
    del view
    if len(text) > 2 * most and _brackets(text) > most:
        return False  # it may nest too deeply: each level begins with one of the brackets
    return _PACKED_FLOAT not in buffer or not is_odd(text, buffer)


def _brackets(text: bytes) -> int:
    """How many brackets open; removing them takes a third of the time of counting them."""
    return 2 * len(text) - len(text.replace(b"[", b"")) - len(text.replace(b"{", b""))


_CHEAP_CALL: Final = 2000


def finder(pattern: str) -> Callable[[bytes], bool]:
    """Whether a small built-in pattern is found, with the faster package for each length.

    RE2 skips faster through long texts, but a call takes half a microsecond if repeated at once,
    and up to three between other work, when its code is no longer in the processor's caches.
    """
    search = re.compile(pattern.encode()).search
    match = re2.compile(pattern)._regexp.Match  # noqa: SLF001 (six times as fast as its ``search``)
    anywhere = re2._re2.RE2.Anchor.UNANCHORED  # noqa: SLF001

    def finds(code: bytes) -> bool:
        if len(code) < _CHEAP_CALL:
            return search(code) is not None
        return match(anywhere, code, 0, len(code))[0][0] >= 0

    return finds


has_whole_float: Final = finder(r"\.0[\],}]")
"""Whether JSON text may contain a whole float, which is an integer in Hog."""

has_exponent: Final = finder(r"e[-+]?[0-9]+[\],}]")
"""Whether JSON text may contain a number with an exponent, which Hog may write differently."""


def has_odd_float(code: bytes, has_extreme: bool = True) -> bool:  # noqa: FBT001, FBT002 (for speed)
    """Whether JSON text may contain a number that Hog may write differently.

    Numbers with exponents are only looked for if it ``has_extreme`` ones.
    """
    is_whole = code.find(b".0") >= 0 and has_whole_float(code)
    return is_whole or (has_extreme and has_exponent(code))


has_tag: Final = finder("__hog")
"""Whether JSON text may contain the tagged form of a date or an error."""
