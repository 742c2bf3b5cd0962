"""The formatter: layout only, so that comments, names and every token stay.

Lines are indented by their brackets, gaps become one space, operators get spaces around them,
more than one empty line becomes one. Where lines break is left to the author. The result parses to
the same tree, which is checked; texts, templates and tags are not touched.
"""

from typing import Any

import msgspec

from hoglet.kit.errors import Bug
from hoglet.syntax import parse_program
from hoglet.syntax.scan import Piece, pieces
from hoglet.syntax.tree import Node

_INDENT = "    "
_SPACED = frozenset(
    [":=", "->", "=", "==", "!=", "<=", ">=", "=~", "!~", "=~*", "!~*", "||", "??", "*", "/", "%"]
)  # fmt: skip


def format_program(source: str) -> str:
    """The program with its layout in order; formatting twice changes nothing more.

    Raises:
        SourceError: it does not parse.
    """
    before = parse_program(source)
    formatted = _Layout().run(source)
    if _without_places(parse_program(formatted)) != _without_places(before):
        raise Bug("The formatter changed the meaning of a program")
    return formatted


class _Layout:
    def __init__(self) -> None:
        self._out: list[str] = []
        self._depth = 0
        self._breaks = 0
        self._gap = False
        self._last = Piece("end", ";")

    def run(self, source: str) -> str:
        for piece in pieces(source):
            if piece.kind == "space":
                self._breaks += piece.text.count("\n")
                self._gap = True
            else:
                self._place(piece)
        return "".join(self._out).strip("\n") + "\n" if self._out else ""

    def _place(self, piece: Piece) -> None:
        if piece.kind == "close":
            self._depth = max(0, self._depth - 1)
        self._out.append(self._before(piece))
        self._out.append(piece.text.rstrip() if piece.kind == "comment" else piece.text)
        if piece.kind == "open":
            self._depth += 1
        self._breaks, self._gap, self._last = 0, False, piece

    def _before(self, piece: Piece) -> str:
        if self._breaks:
            return "\n" * min(self._breaks, 2) + _INDENT * self._depth
        if not self._out:
            return ""
        if piece.kind == "comment":
            return "  "
        if self._needs_none(piece):
            return ""
        return " " if self._gap or self._needs_one(piece) else ""

    def _needs_one(self, piece: Piece) -> bool:
        last = self._last
        return (
            piece.text in _SPACED
            or last.text in _SPACED
            or last.text in {",", ";"}
            or (piece.text == "{" and last.text == ")")
            or last.kind == "comment"
        )

    def _needs_none(self, piece: Piece) -> bool:
        return (
            piece.text in {",", ";", ")", "]"}
            or self._last.text in {"(", "["}
            or (piece.text == "}" and self._last.text == "{")
        )


def _without_places(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple([_without_places(item) for item in value])
    if not isinstance(value, Node):
        return value
    names = [name for name in value.__struct_fields__ if name not in {"start", "end"}]
    changes = {name: _without_places(getattr(value, name)) for name in names}
    return msgspec.structs.replace(value, start=None, end=None, **changes)
