"""Splits text into tokens, with just enough detail to measure the cost of parsing.

This is not the language's grammar: it knows where strings, templates, quoted names, comments and
tags begin and end, and returns the rest as words, numbers, brackets and operators. In incomplete
text (such as an unclosed string) the tokens simply end; the parser reports the error.

Source: docs/spec/hog-language.md#1-lexical-rules and docs/spec/hog-language.md#13-parser.
"""

import re
from collections.abc import Generator, Iterator
from typing import Any, Literal, NamedTuple

type Kind = Literal["word", "value", "operator", "end", "open", "close", "tag", "untag"]


class Token(NamedTuple):
    """One token.

    ``open`` and ``close`` are ``( [ {`` and their partners, and ``${`` for the brace of a
    template or tag; ``tag`` and ``untag`` are the two ends of ``<name>...</name>``; ``end`` is
    ``; , :=``; ``value`` is a number, a string, a quoted name, or the quotes of a template.
    """

    kind: Kind
    text: str
    offset: int


_CODE = re.compile(
    r"""
      (?P<skip> \s++ | //[^\n]*+ | --[^\n]*+ | \#[^\n]*+ | /\*.*?\*/ )
    | (?P<template> [fF]' )
    | (?P<value> '(?:[^'\\]|\\.|'')*+' | `(?:[^`\\]|\\.|``)*+` | "(?:[^"\\]|\\.|"")*+"
        | 0[xX]\w*+ | (?:\d\w*+(?:\.\d\w*+)?|\.\d\w*+)(?:(?<=[eE])[+-]\d++)? )
    | (?P<word> [A-Za-z_$][\w$]*+ )
    | (?P<end> := | ; | , )
    | (?P<open> [(\[{] )
    | (?P<close> [)\]}] )
    | (?P<operator> \?\. | \?\? | -> | \|\| | [=!<>~]=?~?\*? | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_TEMPLATE_TEXT = re.compile(r"(?:[^'\\{]|\\.|'')*+", re.DOTALL)
_BARE_TEMPLATE_TEXT = re.compile(r"(?:[^\\{]|\\.)*+", re.DOTALL)
_TAG_HEAD = re.compile(
    r"(?P<skip>\s++|[\w.-]++|=|'(?:[^'\\]|\\.|'')*+')|(?P<empty>/\s*>)|(?P<done>>)|(?P<brace>\{)",
    re.DOTALL,
)
_TAG_TEXT = re.compile(r"[^<{]*+")
_TAG_END = re.compile(r"<\s*/[^>]*+>")
_TAG_START = re.compile(r"<\s*[A-Za-z_][\w-]*+")
_LOOKS_LIKE_TAG = re.compile(r"<[A-Za-z_][\w-]*+(?:\s*/?>|\s++[\w-]++\s*=\s*['{])")
_PREFIX_WORDS = frozenset(
    "return throw and or not in like ilike is between case when then else if while".split()  # noqa: SIM905 (a word list reads better)
)


def tokens(text: str) -> Iterator[Token]:
    """Tokens of a program, expression or query, without comments."""
    return _Scanner(text).code(0, None)


def template_tokens(text: str) -> Iterator[Token]:
    """Tokens inside the braces of a template."""
    return _Scanner(text).template(0, _BARE_TEMPLATE_TEXT)


class Piece(NamedTuple):
    """A piece of text: a token, ``space``, ``comment``, or a whole template or tag (``opaque``).

    The concatenated pieces are the text.
    """

    kind: Kind | Literal["space", "comment", "opaque"]
    text: str


def pieces(text: str) -> Iterator[Piece]:
    """The whole text in pieces, for formatters."""
    return _Scanner(text).pieces()


class _Scanner:
    """Scans text with an explicit stack of modes, so nesting does not consume call depth."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._modes: list[Iterator[Token]] = []
        self._position = 0
        self._previous = Token("end", ";", 0)

    def code(self, position: int, closer: str | None) -> Iterator[Token]:
        self._position = position
        return self._drive(self._code(closer))

    def template(self, position: int, pattern: re.Pattern[str]) -> Iterator[Token]:
        self._position = position
        return self._drive(self._template(pattern))

    def pieces(self) -> Iterator[Piece]:
        position = 0
        while position < len(self._text):
            kind, end = self._piece(position)
            text = self._text[position:end]
            if kind not in {"space", "comment"}:
                visible: Kind = "value" if kind == "opaque" else kind
                self._previous = Token(visible, text, position)
            yield Piece(kind, text)
            position = end

    def _piece(self, position: int) -> tuple[Any, int]:
        match = _CODE.match(self._text, position)
        if match is None:
            return "opaque", len(self._text)
        kind, text = str(match.lastgroup), match.group()
        if kind == "skip":
            return ("space" if text.isspace() else "comment"), match.end()
        if kind == "template":
            return "opaque", self._end_of(self.template(match.end(), _TEMPLATE_TEXT))
        if kind == "operator" and text.startswith("<") and self._starts_tag(position):
            return "opaque", self._end_of(self._drive(self._enter_tag(position)))
        return kind, match.end()

    def _end_of(self, stream: Iterator[Token]) -> int:
        for _ in stream:
            pass
        return min(self._position, len(self._text))

    def _drive(self, first: Iterator[Token]) -> Iterator[Token]:
        self._modes.append(first)
        while self._modes:
            token = next(self._modes[-1], None)
            if token is None:
                self._modes.pop()
                continue
            self._previous = token
            yield token

    def _code(self, closer: str | None) -> Iterator[Token]:
        """Code up to ``closer`` at its own level (not consumed) or the end."""
        depth = 0
        while self._position < len(self._text):
            match = _CODE.match(self._text, self._position)
            if match is None:
                self._position = len(self._text)
                return
            kind, text, offset = str(match.lastgroup), match.group(), match.start()
            if kind == "close":
                if depth == 0 and text == closer:
                    return
                depth -= 1
            elif kind == "open":
                depth += 1
            if kind == "operator" and text.startswith("<") and self._starts_tag(offset):
                yield from self._enter_tag(offset)
                continue
            self._position = match.end()
            if kind == "template":
                yield from self._enter_template(offset)
            elif kind != "skip":
                if _is_unclosed(kind, text):
                    self._position = len(self._text)
                    return
                yield Token(kind, text, offset)  # pyright: ignore[reportArgumentType] (the groups are the kinds)

    def _enter_template(self, offset: int) -> Iterator[Token]:
        self._modes.append(self._template(_TEMPLATE_TEXT))
        yield Token("value", "f'", offset)

    def _template(self, pattern: re.Pattern[str]) -> Iterator[Token]:
        while self._position < len(self._text):
            match = pattern.match(self._text, self._position)
            self._position = match.end() if match else len(self._text)
            if not self._text.startswith("{", self._position):
                self._position += 1
                return
            yield from self._braces()

    def _braces(self) -> Iterator[Token]:
        """``{code}`` of a template or tag; the code is scanned in a mode of its own."""
        offset = self._position
        self._position += 1
        self._modes.append(self._code("}"))
        yield Token("open", "${", offset)
        offset = self._position
        self._position += 1
        if offset < len(self._text):
            yield Token("close", "}", offset)

    def _starts_tag(self, offset: int) -> bool:
        if not _TAG_START.match(self._text, offset):
            return False
        kind, text, _ = self._previous
        if text in {")", "}"}:  # ends an operand, a block or a condition
            return bool(_LOOKS_LIKE_TAG.match(self._text, offset))
        if kind == "word":
            return text.lower() in _PREFIX_WORDS
        return kind not in {"value", "close", "untag"}

    def _enter_tag(self, offset: int) -> Iterator[Token]:
        match = _TAG_START.match(self._text, offset)
        self._position = match.end() if match else offset + 1
        self._modes.append(self._tag())
        yield Token("tag", "<", offset)

    def _tag(self) -> Iterator[Token]:
        closed = yield from self._tag_head()
        while not closed and self._position < len(self._text):
            match = _TAG_TEXT.match(self._text, self._position)
            self._position = match.end() if match else len(self._text)
            if self._text.startswith("{", self._position):
                yield from self._braces()
            elif end := _TAG_END.match(self._text, self._position):
                self._position = end.end()
                closed = True
            elif _TAG_START.match(self._text, self._position):
                yield from self._enter_tag(self._position)
            else:
                self._position += 1
        yield Token("untag", ">", min(self._position, len(self._text)))

    def _tag_head(self) -> Generator[Token, None, bool]:
        """Attributes up to the ``>``. Returns whether the tag ends there."""
        while self._position < len(self._text):
            match = _TAG_HEAD.match(self._text, self._position)
            if match is None:
                self._position = len(self._text)
                return True
            if match.lastgroup == "brace":
                yield from self._braces()
                continue
            self._position = match.end()
            if match.lastgroup != "skip":
                return match.lastgroup == "empty"
        return True


def _is_unclosed(kind: str, text: str) -> bool:
    """Whether a string never ends: its opening quote was scanned as an operator."""
    return kind == "operator" and text in {"'", '"', "`"}
