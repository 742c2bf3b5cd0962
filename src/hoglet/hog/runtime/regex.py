"""``like``, ``=~`` and related operators: matching in linear time (RE2).

Source: docs/spec/hog-language.md#5-semantics-of-operators.
"""

import re
from functools import lru_cache
from typing import Any, Final

import re2

from hoglet.hog.runtime.compare import truthy
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.formatting import as_text
from hoglet.hog.runtime.numbers import number_text, settle
from hoglet.hog.runtime.text import contains_text, spread
from hoglet.kit.text import encode_utf8, replace_surrogates

_SCALARS: Final = frozenset({bool, int, float})
_TEXTUAL: Final = frozenset({str, bool, int, float})
_ANYWHERE: Final = re2._re2.RE2.Anchor.UNANCHORED  # noqa: SLF001 (see found)
_ANY: Final = r"[^\n\r\x{2028}\x{2029}]"


_MOST_WORK: Final = 250_000_000
"""Instructions times bytes of one search. RE2 is linear in both and cannot be stopped: at its
worst (3 ns each) this is three quarters of a second."""
_ALWAYS_FINE: Final = 700  # bytes: the largest program that RE2 takes is below 350,000


def compile_pattern(pattern: str, ignore_case: bool) -> Any:  # noqa: FBT001 (a cache key)
    """A compiled RE2 pattern; recent ones are cached.

    Raises:
        EngineError: it is not RE2 syntax.
    """
    if len(pattern) > _LONG:
        return _long_pattern(pattern, ignore_case)
    return _short_pattern(pattern, ignore_case)


def forget_patterns() -> None:
    """Free the memory of cached patterns: up to 3 MB each."""
    for cache in (_long_pattern, _short_pattern, _like_pattern):
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
    """``text =~ pattern``, searched anywhere; false when one is null or empty.

    A number is searched as it prints, 0 and NaN are as good as empty.
    """
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
    return bool(text and pattern) and found(pattern, text, ignore_case=ignore_case)


def _searched(value: Any) -> str:
    if type(value) is str:
        return value
    return as_text(value) if truthy(value) and type(value) in _SCALARS else ""


def found(pattern: str, text: str, *, ignore_case: bool) -> bool:
    """Whether an RE2 pattern matches somewhere in a string."""
    return is_found(compile_pattern(pattern, ignore_case), encode_utf8(text))


def is_found(pattern: Any, code: bytes) -> bool:
    """Whether a compiled pattern is found in UTF-8 code.

    The package's own ``search`` makes match objects, which costs six times the search.
    """
    if len(code) > _ALWAYS_FINE:
        _check_work(pattern, len(code))
    return pattern._regexp.Match(_ANYWHERE, code, 0, len(code))[0][0] >= 0  # noqa: SLF001


def first_match(pattern: str, text: str) -> Any:
    """The first match object of an RE2 pattern in a text, None for none."""
    compiled, source = compile_pattern(pattern, False), replace_surrogates(text)
    if len(source) > _ALWAYS_FINE:
        _check_work(compiled, len(source))
    return compiled.search(source)


def _check_work(pattern: Any, size: int) -> None:
    if pattern._regexp.ProgramSize() * size > _MOST_WORK:  # noqa: SLF001
        raise EngineError(f"The regular expression is too large for a text of {size} bytes")


def like(text: Any, pattern: Any) -> bool:
    """``text like pattern``: ``%`` and ``_``, searched anywhere.

    Numbers and booleans are their text; false with null, arrays, objects and dates.
    """
    if type(text) is not str or type(pattern) is not str:
        if type(text) not in _TEXTUAL or type(pattern) not in _TEXTUAL:
            return False
        text, pattern = _scalar_text(text), _scalar_text(pattern)
    bare = pattern.strip("%")
    if "%" not in bare and "_" not in bare:
        return contains_text(text, bare)
    if len(bare) <= _SHORT and "%" not in bare and text.isascii() and bare.isascii():
        return _wildcards(bare).search(text) is not None
    return found(_like_pattern(spread(bare)), spread(text), ignore_case=False)


_SHORT: Final = 64


@lru_cache(maxsize=256)
def _wildcards(pattern: str) -> re.Pattern[str]:
    """A pattern whose only wildcards stand for one character: at most 64 steps a character."""
    return re.compile(re.escape(pattern).replace("_", r"[^\n\r]"))


def ilike(text: Any, pattern: Any) -> bool:
    """:func:`like` that ignores case."""
    if type(text) is not str or type(pattern) is not str:
        if type(text) not in _TEXTUAL or type(pattern) not in _TEXTUAL:
            return False
        text, pattern = _scalar_text(text), _scalar_text(pattern)
    bare = pattern.strip("%")
    if "%" not in bare and "_" not in bare and text.isascii() and bare.isascii():
        return bare.lower() in text.lower()
    return found(_like_pattern(spread(bare)), spread(text), ignore_case=True)


def _scalar_text(value: Any) -> str:
    """A text, or a number or boolean as text; also of numbers that the host gives."""
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
