"""``like``, ``=~`` and related operators: matching in linear time (RE2).

Source: docs/spec/hog-language.md#5-semantics-of-operators.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import re2

from hoglet.hog.runtime.compare import truthy
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.formatting import as_text
from hoglet.hog.runtime.numbers import number_text, settle
from hoglet.hog.runtime.text import contains_text, spread
from hoglet.kit.json import encode_utf8, replace_surrogates

_SCALARS: Final = frozenset({bool, int, float})
_TEXTUAL: Final = frozenset({str, bool, int, float})
_ANYWHERE: Final = re2._re2.RE2.Anchor.UNANCHORED  # noqa: SLF001 (see found)
_ANY: Final = r"[^\n\r\x{2028}\x{2029}]"


_MAX_WORK: Final = 250_000_000
"""Maximum instructions times bytes of a search. RE2 is linear in both and cannot be stopped: at its
worst (3 ns each) this takes three quarters of a second."""
_ALWAYS_FINE: Final = 700  # bytes; the largest program that RE2 accepts is below 350,000


def compile_pattern(pattern: str, ignore_case: bool) -> Any:  # noqa: FBT001 (a cache key)
    """A compiled RE2 pattern; recent ones are cached.

    Raises:
        EngineError: invalid RE2 syntax.
    """
    if len(pattern) > _LONG:
        return _long_pattern(pattern, ignore_case)
    return _short_pattern(pattern, ignore_case)


@lru_cache(maxsize=64)
def _match_of(pattern: str) -> Any:
    """The search function of a pattern, without the package's wrapper."""
    return compile_pattern(pattern, False)._regexp.Match  # noqa: SLF001 (see is_found)


def forget_patterns() -> None:
    """Free the memory of cached patterns: up to 3 MB each."""
    for cache in (_match_of, _simple_search, _long_pattern, _short_pattern, _like_pattern):
        cache.cache_clear()
    re2.purge()


_LONG: Final = 1000


@lru_cache(maxsize=512)
def _short_pattern(pattern: str, ignore_case: bool) -> Any:  # noqa: FBT001 (a cache key)
    return _compiled(pattern, ignore_case=ignore_case)


@lru_cache(maxsize=16)
def _long_pattern(pattern: str, ignore_case: bool) -> Any:  # noqa: FBT001 (a cache key)
    return _compiled(pattern, ignore_case=ignore_case)


def _compiled(pattern: str, *, ignore_case: bool) -> Any:
    options = re2.Options()
    options.case_sensitive = not ignore_case
    options.log_errors = False
    try:
        return re2.compile(replace_surrogates(pattern), options)
    except re2.error as error:
        reason = error.args[0] if error.args else "syntax"
        if isinstance(reason, bytes):
            reason = reason.decode(errors="replace")
        raise EngineError(f"Invalid regular expression: {reason}") from None


def regex(text: Any, pattern: Any) -> bool:
    """``text =~ pattern``, searched anywhere; false if either is null or empty.

    Numbers are searched in their printed form; 0 and NaN count as empty.
    """
    if type(text) is str and type(pattern) is str and len(text) <= _ALWAYS_FINE and text.isascii():
        if not text or not pattern:
            return False
        search, longest = _simple_search(pattern, False)
        if len(text) <= longest:
            return search(text) is not None
        code = text.encode()
        return _match_of(pattern)(_ANYWHERE, code, 0, len(code))[0][0] >= 0
    return _search(text, pattern, ignore_case=False)


def regex_ignore_case(text: Any, pattern: Any) -> bool:
    """``text =~* pattern``."""
    return _search(text, pattern, ignore_case=True)


def not_regex(text: Any, pattern: Any) -> bool:
    """``text !~ pattern``."""
    return not _search(text, pattern, ignore_case=False)


def not_regex_ignore_case(text: Any, pattern: Any) -> bool:
    """``text !~* pattern``."""
    return not _search(text, pattern, ignore_case=True)


def _search(text: Any, pattern: Any, *, ignore_case: bool) -> bool:
    if type(text) is not str or type(pattern) is not str:
        text, pattern = _searched(text), _searched(pattern)
    return bool(text and pattern) and matches_anywhere(pattern, text, ignore_case=ignore_case)


def _searched(value: Any) -> str:
    if type(value) is str:
        return value
    return as_text(value) if truthy(value) and type(value) in _SCALARS else ""


def matches_anywhere(pattern: str, text: str, *, ignore_case: bool) -> bool:
    """Whether an RE2 pattern matches somewhere in a string."""
    search, longest = _simple_search(pattern, ignore_case)
    if len(text) <= longest and text.isascii():
        return search(text) is not None
    return is_found(compile_pattern(pattern, ignore_case), encode_utf8(text))


_ESCAPED: Final = r"\\[.*+?()|^$/@\[\]\\-]"
_LITERAL: Final = rf"[A-Za-z0-9 _@#%&=:;,\"'/<>!~-]|{_ESCAPED}|\\[#%&=:;,!~{{}}dDwW]"
_IN_CLASS: Final = (
    rf"[A-Za-z](?:-[A-Za-z])?|[0-9](?:-[0-9])?|[ _@.+%#/,:;=!*$?<>'\"]|&(?!&)|{_ESCAPED}|\\[dw]"
)
_ATOM: Final = rf"(?:{_LITERAL}|\.|\[\^?(?:{_IN_CLASS})+-?\])"
_REPEAT: Final = r"[?*+]|\{[0-9]{1,2}(?:,[0-9]{0,2})?\}"
_PIECE: Final = rf"{_ATOM}(?:(?:{_REPEAT})\??)?"
_SIMPLE: Final = re.compile(
    rf"(\(\?i\))?(\^?(?:{_PIECE}|\((?:\?:)?(?:{_PIECE}|\|)*\)|\|)+)(\$?)", re.ASCII
)
_REPEATED: Final = re.compile(rf"({_ATOM})({_REPEAT})?|\(\?:|.", re.ASCII)
_MAX_SIMPLE_CHARACTERS: Final = 200
_MAX_STEPS: Final = 50_000_000
"""Maximum steps of a search by Python's package; the worst patterns that were found take 13 ms."""


@lru_cache(maxsize=256)
def _simple_search(pattern: str, ignore_case: bool) -> tuple[Callable[[str], Any], int]:  # noqa: FBT001 (a cache key)
    """The search by Python's package, and the longest ASCII text for which it may replace RE2.

    It takes a third of the time of a call of RE2. Both packages prefer the same match for patterns
    of characters, classes, alternatives, and groups that are neither repeated nor nested. For
    these, backtracking tries at most each start with each combination of repeats and alternatives.

    Raises:
        EngineError: invalid RE2 syntax.
    """
    parts = _SIMPLE.fullmatch(pattern) if len(pattern) <= _MAX_SIMPLE_CHARACTERS else None
    if parts is None:
        return re.compile("").search, -1
    compile_pattern(pattern, ignore_case)
    body = parts[2]
    is_anchored = body[0] == "^" and "|" not in body
    steps, powers = 2 * len(pattern), 0 if is_anchored else 1
    for piece in _REPEATED.finditer(body):
        fewest, most = _repeats(piece[2])
        if piece[0] == "|" or most is not None:
            steps *= 2 if most is None else most - fewest + 1
        else:
            powers += 1
    flags = re.ASCII | (re.IGNORECASE if ignore_case or parts[1] else 0)
    search = re.compile(body + (r"\Z" if parts[3] else ""), flags).search
    return search, _longest_text(powers, steps)


def _longest_text(powers: int, steps: int) -> int:
    """The longest text, of 256 at most, for which its length to that power takes few steps."""
    longest = 256 if steps <= _MAX_STEPS else -1
    while longest >= 0 and (longest + 2) ** powers * steps > _MAX_STEPS:
        longest -= 1
    return longest


def _repeats(text: str | None) -> tuple[int, int | None]:
    """The fewest and the most repeats of a piece; no limit is None."""
    if text is None or text == "?":
        return (1, 1) if text is None else (0, 1)
    if text in "*+":
        return 0, None
    fewest, comma, most = text[1:-1].partition(",")
    return int(fewest), int(most) if most else (None if comma else int(fewest))


def is_found(pattern: Any, code: bytes) -> bool:
    """Whether a compiled pattern is found in UTF-8 code.

    The package's own ``search`` creates match objects, which takes six times as long.
    """
    if len(code) > _ALWAYS_FINE:
        _check_work(pattern, len(code))
    return pattern._regexp.Match(_ANYWHERE, code, 0, len(code))[0][0] >= 0  # noqa: SLF001


def extracted(pattern: str, text: str) -> str:
    """The first group of the first match, or the whole match without groups; else ``''``."""
    search, longest = _simple_search(pattern, False)
    if len(text) <= longest and text.isascii():
        match = search(text)
        return "" if match is None else (match[1 if match.re.groups else 0] or "")
    code = encode_utf8(text)
    if len(code) > _ALWAYS_FINE:
        _check_work(compile_pattern(pattern, False), len(code))
    spans = _match_of(pattern)(_ANYWHERE, code, 0, len(code))
    start, end = spans[1] if len(spans) > 1 else spans[0]
    return "" if start < 0 else code[start:end].decode()


def first_match(pattern: str, text: str) -> list[str | None] | None:
    """The text and the groups of the first match of an RE2 pattern, None for no match."""
    code = encode_utf8(text)
    if len(code) > _ALWAYS_FINE:
        _check_work(compile_pattern(pattern, False), len(code))
    spans = _match_of(pattern)(_ANYWHERE, code, 0, len(code))
    if spans[0][0] < 0:
        return None
    return [None if start < 0 else code[start:end].decode() for start, end in spans]


def _check_work(pattern: Any, size: int) -> None:
    if pattern._regexp.ProgramSize() * size > _MAX_WORK:  # noqa: SLF001
        raise EngineError(f"The regular expression is too large for a text of {size} bytes")


def like(text: Any, pattern: Any) -> bool:
    """``text like pattern``: ``%`` and ``_``, searched anywhere.

    Numbers and booleans are converted to text; false for null, arrays, objects and dates.
    """
    if type(text) is not str or type(pattern) is not str:
        if type(text) not in _TEXTUAL or type(pattern) not in _TEXTUAL:
            return False
        text, pattern = _scalar_text(text), _scalar_text(pattern)
    if len(pattern) <= _SHORT and text.isascii():
        search, longest = _wildcards(pattern)
        if len(text) <= longest:
            return search(text) is not None
    bare = pattern.strip("%")
    if "%" not in bare and "_" not in bare:
        return contains_text(text, bare)
    return matches_anywhere(_like_pattern(spread(bare)), spread(text), ignore_case=False)


_SHORT: Final = 64


@lru_cache(maxsize=256)
def _wildcards(pattern: str) -> tuple[Callable[[str], Any], int]:
    """The search for a pattern with inner wildcards, and the longest ASCII text to use it for."""
    bare = pattern.strip("%")
    gaps = bare.count("%")
    if not bare.isascii() or ("_" not in bare and not gaps):
        return re.compile("").search, -1
    parts = {"%": r"[^\n\r]*", "_": r"[^\n\r]"}
    search = re.compile("".join([parts.get(c) or re.escape(c) for c in bare])).search
    return search, _longest_text(gaps + 1, 2 * _SHORT) if gaps else _MAX_LIKE_CHARACTERS


_MAX_LIKE_CHARACTERS: Final = 2**62  # any text: it takes at most 64 steps per character


def ilike(text: Any, pattern: Any) -> bool:
    """:func:`like` that ignores case."""
    if type(text) is not str or type(pattern) is not str:
        if type(text) not in _TEXTUAL or type(pattern) not in _TEXTUAL:
            return False
        text, pattern = _scalar_text(text), _scalar_text(pattern)
    bare = pattern.strip("%")
    if "%" not in bare and "_" not in bare and text.isascii() and bare.isascii():
        return bare.lower() in text.lower()
    return matches_anywhere(_like_pattern(spread(bare)), spread(text), ignore_case=True)


def _scalar_text(value: Any) -> str:
    """A string, or a number or boolean as text, including numbers of the host."""
    if type(value) is int:
        return number_text(settle(value))
    return as_text(value)


def not_like(text: Any, pattern: Any) -> bool:
    """``text not like pattern``."""
    return not like(text, pattern)


def not_ilike(text: Any, pattern: Any) -> bool:
    """``text not ilike pattern``."""
    return not ilike(text, pattern)


@lru_cache(maxsize=64)
def _like_pattern(pattern: str) -> str:
    parts = [f"{_ANY}*" if c == "%" else _ANY if c == "_" else re2.escape(c) for c in pattern]
    return "".join(parts)
