"""Limits on a text before it is parsed: size, nesting, and chains of operators.

The parser takes more than linear time for some shapes and overflows its stack on others; each limit
bounds one of them. The numbers and their costs are in the specification.

Source: docs/spec/hog-language.md#13-parser.
"""

from collections.abc import Iterator

import msgspec

from hoglet.kit.errors import SourceError, SourceSpan
from hoglet.syntax.scan import Token, template_tokens, tokens
from hoglet.syntax.source_span import source_span

MAX_BYTES = 100 * 1024
MAX_BRACKETS = 64
MAX_BRACES_IN_PARENTHESES = 8
MAX_RUN = 300
MAX_CHAIN = 1000
MAX_HEADS = 100
MAX_ELSE_IFS = 300  # the cost grows with the third power (1,000 take 10 s)
# The cost grows with the fourth power of the joins in one FROM (100 take 1.5 s); the
# specification has no limit.
MAX_JOINS = 100

_OPENERS = frozenset(["(", "[", "{", "${", "<"])
_CHAIN = frozenset(["and", "or", "||"])
_HEADS = frozenset(["if", "else", "while", "for"])
_STARTERS = frozenset(["let", "return", "if", "for", "while", "fun", "fn", "try", "throw"])
# Words that continue an expression. Any other word after an operand starts a new statement.
_INFIX_WORDS = frozenset(
    ["in", "like", "ilike", "is", "between", "not", "case", "when", "then", "else", "end",
     "distinct", "cohort", "as", "over", "interval", "join", "on"]
)  # fmt: skip


class _Level(msgspec.Struct):
    """Counters between an opening bracket and its closing one."""

    bracket: str
    run: int = 0
    chain: int = 0
    heads: int = 0
    else_ifs: int = 0
    joins: int = 0
    body_seen: bool = False


def check_caps(text: str) -> None:
    """Reject a program, expression or query that exceeds a limit.

    Raises:
        SourceError: with the limit and position; or the text has a lone surrogate.
    """
    check_text(text)
    _Counter(text).check(tokens(text))


def check_template_caps(text: str) -> None:
    """Reject a template that exceeds a limit.

    Raises:
        SourceError: as for :func:`check_caps`.
    """
    check_text(text)
    _Counter(text).check(template_tokens(text))


def check_text(text: str) -> None:
    """Reject text that is too long or not well-formed Unicode.

    Raises:
        SourceError: with the limit, or the position of the lone surrogate.
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        message = "The text contains a lone surrogate (half of a character)"
        raise SourceError(message, source_span(text, error.start, error.start + 1)) from None
    if size > MAX_BYTES:
        message = f"The source is longer than {MAX_BYTES // 1024} KB"
        raise SourceError(message, SourceSpan(end=len(text)))


class _Counter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._levels = [_Level("")]
        self._braces = 0
        self._after_operand = False
        self._after_else = False

    def check(self, stream: Iterator[Token]) -> None:
        for token in stream:
            self._count(token)

    def _count(self, token: Token) -> None:
        match token.kind:
            case "open" | "tag":
                self._open(token)
            case "close" | "untag":
                self._close(token)
            case "end":
                self._end_run()
                self._level.heads = 0
            case "word":
                self._word(token)
            case "operator":
                self._operator(token)
            case "value":
                self._value(token)
        self._after_else = token.text.lower() == "else"

    @property
    def _level(self) -> _Level:
        return self._levels[-1]

    def _open(self, token: Token) -> None:
        if token.text == "[" or (token.text == "(" and self._after_operand):
            self._bump_run(token)
        elif token.text in {"(", "["}:
            self._operand()
        if token.text == "{":
            self._open_brace(token)
        self._levels.append(_Level(token.text))
        if len(self._levels) > MAX_BRACKETS + 1:
            self._refuse(f"More than {MAX_BRACKETS} brackets are open at once", token)
        self._after_operand = False

    def _open_brace(self, token: Token) -> None:
        self._level.heads = 0
        if self._level.bracket == "(":
            self._braces += 1
            if self._braces > MAX_BRACES_IN_PARENTHESES:
                what = "braces directly inside parentheses are open at once"
                self._refuse(f"More than {MAX_BRACES_IN_PARENTHESES} {what}", token)

    def _close(self, token: Token) -> None:
        if len(self._levels) > 1:
            closed = self._levels.pop()
            if closed.bracket == "{" and self._level.bracket == "(":
                self._braces -= 1
        if token.text == "}":
            self._level.heads = 0
        self._after_operand = True

    def _word(self, token: Token) -> None:
        word = token.text.lower()
        if word in _STARTERS:
            self._count_else_if(token)
        if word in _CHAIN:
            self._bump_chain(token)
        elif word in _STARTERS or word == "else":
            self._end_run()
            if word in _HEADS:
                self._bump_heads(token)
            self._after_operand = word in {"if", "for", "while"}
        elif word == "join":
            self._bump_joins(token)
        elif word in _INFIX_WORDS:
            self._bump_run(token)
        else:
            self._operand()

    def _count_else_if(self, token: Token) -> None:
        """A statement ends the chain of ``else if``, or is its next one."""
        level = self._level
        level.else_ifs = level.else_ifs + 1 if self._after_else else 0
        if level.else_ifs > MAX_ELSE_IFS:
            self._refuse(f"More than {MAX_ELSE_IFS} else if follow one another", token)

    def _value(self, token: Token) -> None:
        if (
            "_" in token.text and token.text[0] in ".0123456789"
        ):  # the parser accepts `1` and `_000`
            self._refuse("The digits of a number cannot be separated by `_`", token)
        self._operand()

    def _operand(self) -> None:
        """A name or literal; directly after another operand it starts a new statement."""
        if self._after_operand:
            self._end_run()
        self._level.body_seen = True
        self._after_operand = True

    def _operator(self, token: Token) -> None:
        if token.text == "||":
            self._bump_chain(token)
        elif token.text not in {".", ":"}:
            self._bump_run(token)
        self._after_operand = False

    def _end_run(self) -> None:
        self._level.run = self._level.chain = self._level.joins = 0

    def _bump_run(self, token: Token) -> None:
        self._level.run += 1
        if self._level.run > MAX_RUN:
            self._refuse(f"More than {MAX_RUN} operators and calls follow one another", token)
        self._after_operand = False

    def _bump_chain(self, token: Token) -> None:
        self._level.chain += 1
        if self._level.chain > MAX_CHAIN:
            self._refuse(f"More than {MAX_CHAIN} and, or, || follow one another", token)
        self._after_operand = False

    def _bump_joins(self, token: Token) -> None:
        self._level.joins += 1
        if self._level.joins > MAX_JOINS:
            self._refuse(f"More than {MAX_JOINS} joins in a row", token)
        self._after_operand = False

    def _bump_heads(self, token: Token) -> None:
        level = self._level
        if level.body_seen and token.text.lower() != "else":
            level.heads = 0
        level.heads += 1
        level.body_seen = False
        if level.heads > MAX_HEADS:
            what = "if, else, while, for follow one another without braces"
            self._refuse(f"More than {MAX_HEADS} {what}", token)

    def _refuse(self, message: str, token: Token) -> None:
        end = token.offset + len(token.text)
        raise SourceError(message, source_span(self._text, token.offset, end))
