"""The formatter: changes layout only; comments, names and tokens stay.

Lines are indented by their brackets, and once more in continued statements; operators and blocks
get spaces, runs of spaces and empty lines are collapsed. Line breaks stay. The result is verified
to parse to the same tree; strings, templates and tags are unchanged.
"""

from typing import Any, Final, NamedTuple

import msgspec

from hoglet.kit.errors import SourceError
from hoglet.syntax.parse import parse_program
from hoglet.syntax.scan import Piece, pieces
from hoglet.syntax.tree import Node

_INDENT: Final = "    "
_SPACED: Final = frozenset(
    [":=", "->", "=", "==", "!=", "<=", ">=", "=~", "!~", "=~*", "!~*", "~", "~*", "<", ">", "||",
     "??", "*", "/", "%", "?"]
)  # fmt: skip
_SIGNS: Final = frozenset("+-")
_HEADS: Final = frozenset(["if", "while", "for", "catch"])
_BEFORE_OPERAND: Final = frozenset(
    "return throw and or not in like ilike between case when then else".split()  # noqa: SIM905
)


def format_program(source: str) -> str:
    """Format a program; idempotent.

    Raises:
        SourceError: it does not parse, or cannot be formatted without changing its meaning.
    """
    before = parse_program(source)
    formatted = _Layout().run(source)
    if _shape(formatted) != _without_places(before):
        raise SourceError("This program cannot be formatted without changing its meaning")
    return formatted


def _shape(text: str) -> Any:
    try:
        return _without_places(parse_program(text))
    except SourceError:
        return None


class _Bracket(NamedTuple):
    """An open bracket: its line, and whether it opens a block or the head of an `if`.

    Brackets that were opened on one line indent together: ``fetch(url, {``.
    """

    line: int = 0
    block: bool = False
    head: bool = False


class _Layout:
    def __init__(self) -> None:
        self._out: list[str] = []
        self._open: list[_Bracket] = []
        self._questions: list[int] = [0]
        self._line = 0
        self._breaks = 0
        self._gap = False
        self._last = Piece("end", ";")
        self._starts = False  # the last piece is a word that begins a statement
        self._body = False  # the last piece ends the head of an `if`; its body follows
        self._unary = False  # the last piece is a sign, not an operator
        self._closed = _Bracket()

    def run(self, source: str) -> str:
        for piece in pieces(source):
            if piece.kind == "space":
                self._breaks += piece.text.count("\n")
                self._gap = True
            else:
                self._append(piece)
        return "".join(self._out).strip("\n") + "\n" if self._out else ""

    def _append(self, piece: Piece) -> None:
        if piece.kind == "close":
            self._closed = self._open.pop() if self._open else _Bracket()
        self._out.append(self._before(piece))
        self._out.append(piece.text.rstrip() if piece.kind == "comment" else piece.text)
        if piece.kind == "comment":  # its predecessor decides what follows
            self._breaks, self._gap, self._last = 0, True, piece
            return
        starts = self._begins_statement(piece)
        self._note_brackets(piece)
        self._unary = piece.text in _SIGNS and not self._is_binary()
        self._body = (piece.text == ")" and self._closed.head) or (
            piece.kind == "word" and piece.text.lower() == "else"
        )
        self._starts = starts
        self._breaks, self._gap, self._last = 0, False, piece

    def _note_brackets(self, piece: Piece) -> None:
        if piece.kind == "open":
            block = piece.text == "{" and self._follows_head()
            head = self._starts and self._is_head(self._last)
            self._open.append(_Bracket(self._line, block, head))
            self._questions.append(0)
        elif piece.kind == "close":
            self._questions = self._questions[:-1] or [0]
        elif piece.text == "?":
            self._questions[-1] += 1
        elif piece.text == ":" and self._questions[-1]:
            self._questions[-1] -= 1

    def _begins_statement(self, piece: Piece) -> bool:
        """Whether a word can start a statement here: ``if (`` is not a call."""
        last = self._last
        return piece.kind == "word" and (
            self._breaks > 0
            or last.text in {";", "{", "}", ")"}
            or (last.kind == "word" and last.text.lower() == "else")
        )

    def _is_head(self, piece: Piece) -> bool:
        return piece.kind == "word" and piece.text.lower() in _HEADS

    def _follows_head(self) -> bool:
        """Whether ``{`` opens a block: after ``)``, ``else``, ``try`` and ``catch``."""
        last = self._last
        return last.text == ")" or (
            last.kind == "word" and last.text.lower() in {"else", "try", "catch"}
        )

    def _is_binary(self) -> bool:
        """Whether a sign here stands between two operands."""
        last = self._last
        if last.kind == "word":
            return last.text.lower() not in _BEFORE_OPERAND
        return last.kind in {"value", "opaque", "close"} or last.kind == "comment"

    def _before(self, piece: Piece) -> str:
        if self._breaks:
            self._line += 1
            return "\n" * min(self._breaks, 2) + _INDENT * self._depth(piece)
        if not self._out:
            return ""
        if self._needs_none(piece):
            return ""
        if piece.kind == "comment":
            return " " if piece.text.startswith("/*") else "  "
        return " " if self._gap or self._needs_one(piece) else ""

    def _depth(self, piece: Piece) -> int:
        lines = {bracket.line for bracket in self._open}
        if piece.kind == "close":
            lines.discard(self._closed.line)
        return len(lines) + self._continues(piece)

    def _continues(self, piece: Piece) -> bool:
        """Whether a new line continues the previous statement."""
        last = self._last
        if piece.kind in {"comment", "close"} or last.kind == "comment":
            return False
        if self._body:
            return piece.text != "{"
        return piece.kind == "operator" or last.kind == "operator" or last.text == ":="

    def _needs_none(self, piece: Piece) -> bool:
        last = self._last
        return (
            piece.text in {",", ";", ")", "]"}
            or (last.text in {"(", "["} and not piece.text.startswith(("//", "--", "#")))
            or (piece.text == "}" and last.text == "{")
            or (piece.text == ":" and not self._questions[-1])
            or (not self._gap and (last.text + piece.text) in {"<>", "::", ".*"})
            or (not self._gap and self._unary)
        )

    def _needs_one(self, piece: Piece) -> bool:
        last = self._last
        return (
            piece.text in _SPACED
            or last.text in _SPACED
            or last.text in {",", ";", ":"}
            or piece.text == ":"
            or (piece.text in _SIGNS and self._is_binary())
            or last.text in _SIGNS
            or last.kind == "comment"
            or self._around_block(piece)
        )

    def _around_block(self, piece: Piece) -> bool:
        last = self._last
        if piece.text == "{":
            return self._follows_head()
        if piece.text == "}":
            return self._closed.block
        if last.text == "{":
            return bool(self._open) and self._open[-1].block
        if piece.kind == "word" and last.text == "}":
            return True
        return piece.text == "(" and self._starts and self._is_head(last)


def _without_places(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple([_without_places(item) for item in value])
    if not isinstance(value, Node):
        return value
    names = [name for name in value.__struct_fields__ if name not in {"start", "end"}]
    changes = {name: _without_places(getattr(value, name)) for name in names}
    return msgspec.structs.replace(value, start=None, end=None, **changes)
