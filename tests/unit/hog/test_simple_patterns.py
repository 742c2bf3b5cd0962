"""Short texts are searched for simple patterns without RE2, with the same result."""

from random import Random

import pytest
import re2

from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.regex import (
    extracted,
    first_match,
    forget_patterns,
    like,
    matches_anywhere,
    regex,
)

PIECES = [
    "a", "b", "A", "1", "_", "@", "-", " ", r"\.", r"\d", r"\w", r"\D", r"\W", ".", "[a-c]", "[^a]",
    r"[\w.+-]", "[A-Z0-9]", r"[^\d]", "[^&]", r"\-", r"\(", "[.-]", r"\n", r"\s", "[]a]", "é",
]  # fmt: skip
REPEATS = [
    "",
    "",
    "",
    "*",
    "+",
    "?",
    "{2}",
    "{1,3}",
    "{0,2}",
    "{2,}",
    "*?",
    "+?",
    "??",
    "{0}",
    "**",
]
CHARACTERS = "aabbAB1_@-. x\n()/\v\t\\C9Zz[|^&"


def a_piece(random: Random) -> str:
    return random.choice(PIECES) + random.choice(REPEATS)


def a_group(random: Random) -> str:
    inner = "".join(
        a_piece(random) if random.random() < 0.8 else "|" for _ in range(random.randrange(4))
    )
    return f"({random.choice(['', '?:'])}{inner}){random.choice(['', '', '', '?', '*'])}"


def a_pattern(random: Random) -> str:
    body = "".join(
        random.choice([a_piece, a_piece, a_piece, a_group, lambda _: "|"])(random)
        for _ in range(random.randint(1, 5))
    )
    return random.choice(["", "^", "(?i)", "(?i)^"]) + body + random.choice(["", "$"])


@pytest.mark.parametrize("seed", range(2))
def test_simple_patterns_match_as_in_re2(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (a seed asks for it)
    for _ in range(400):
        pattern = a_pattern(random)
        for _ in range(4):
            text = "".join(random.choice(CHARACTERS) for _ in range(random.randrange(12)))
            assert outcome(pattern, text) == by_re2(pattern, text), (pattern, text)


def outcome(pattern: str, text: str) -> object:
    try:
        return (
            extracted(pattern, text),
            matches_anywhere(pattern, text, ignore_case=False),
            matches_anywhere(pattern, text, ignore_case=True),
            regex(text, pattern),
        )
    except EngineError as error:
        return str(error)


def by_re2(pattern: str, text: str) -> object:
    try:
        spans, ignoring = first_match(pattern, text), first_match(f"(?i:{pattern})", text)
    except EngineError as error:
        return str(error).replace("(?i:", "").removesuffix(")")
    piece = "" if spans is None else (spans[min(1, len(spans) - 1)] or "")
    is_found = spans is not None
    return piece, is_found, ignoring is not None, bool(text and pattern) and is_found


@pytest.mark.parametrize("seed", range(2))
def test_like_matches_as_in_re2(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (a seed asks for it)
    for _ in range(1000):
        pattern = "".join(random.choice("ab%_@.(\\ \n[") for _ in range(random.randrange(8)))
        text = "".join(random.choice("abab@.(\\ \n\r[x") for _ in range(random.randrange(12)))
        in_re2 = {"%": r"[^\n\r]*", "_": r"[^\n\r]"}
        bare = pattern.strip("%")
        expression = "".join([in_re2.get(c) or f"(?:{re2.escape(c)})" for c in bare])
        for subject in (text, text * 30):
            is_match = first_match(expression, subject) is not None
            assert like(subject, pattern) == is_match, (pattern, subject)


@pytest.mark.parametrize(
    ("pattern", "text", "piece"),
    [
        ("b$", "ab\n", ""),
        ("a|b$", "b\n", ""),
        (r"^[^@]+@([^@]+)\.[a-z]{2,}$", "ada@example.com", "example"),
        ("utm_([a-z]+)=([^&]+)", "x?utm_source=a&utm_medium=b", "source"),
        ("(a)|b", "b", ""),
        ("(?i)CHROME/([0-9]+)", "Chrome/124.0", "124"),
        ("(a|ab)(c|bcd)", "abcd", "a"),
        ("a{,2}", "a{,2}", "a{,2}"),
        ("[^a]", "\n", "\n"),
        (r"\d", "٣", ""),
    ],
)
def test_the_first_match(pattern: str, text: str, piece: str) -> None:
    assert extracted(pattern, text) == piece
    assert extracted(f"(?:{pattern})", text) == piece


@pytest.mark.parametrize("pattern", ["a*a*a*a*a*a*b", "(a*)(a*)(a*)(a*)(a*)b", "a{0,99}" * 9 + "b"])
def test_patterns_that_could_backtrack_for_ever(pattern: str) -> None:
    assert not matches_anywhere(pattern, "a" * 256, ignore_case=False)
    forget_patterns()
    assert extracted(pattern, "a" * 200) == ""
