"""Collects compile errors and warnings, with positions and suggestions.

Source: docs/spec/hog-language.md#6-scopes-closures-calls, docs/spec/hog-language.md#7-errors and
docs/spec/hog-language.md#12-bytecode.
"""

import difflib
from collections.abc import Iterable

from hoglet.hog.bind.tree import Warning_
from hoglet.kit.errors import SourceError, SourceSpan
from hoglet.syntax.tree import Position

_MAX_ERRORS = 50
_LOOKED_AT = 10
_SHORT = 5  # shorter names match with one edit, others with two


class CompileError(SourceError):
    """All errors of a text; itself the first of :attr:`errors`."""

    def __init__(self, errors: tuple[SourceError, ...]) -> None:
        first = errors[0]
        super().__init__(
            first.message,
            SourceSpan(first.line, first.column, first.start, first.end),
            hint=first.hint,
        )
        self.errors = errors


class Diagnostics:
    """The errors and warnings of a text."""

    def __init__(self) -> None:
        self._errors: list[SourceError] = []
        self._warnings: list[Warning_] = []

    def error(
        self,
        message: str,
        start: Position | None,
        end: Position | None,
        *,
        hint: str | None = None,
    ) -> None:
        """Record an error; binding continues, so that all errors are reported."""
        if len(self._errors) < _MAX_ERRORS:
            self._errors.append(
                SourceError(message, SourceSpan(*_coordinates(start, end)), hint=hint)
            )

    def warning(
        self,
        message: str,
        start: Position | None,
        end: Position | None,
        *,
        hint: str | None = None,
    ) -> None:
        """Record a warning."""
        line, column, first, last = _coordinates(start, end)
        self._warnings.append(Warning_(message, line, column, first, last, hint))

    def finish(self) -> tuple[Warning_, ...]:
        """The warnings in source order.

        Raises:
            CompileError: at least one error was recorded.
        """
        if self._errors:
            raise CompileError(tuple(sorted(self._errors, key=lambda error: error.start)))
        return tuple(sorted(self._warnings, key=lambda warning: warning.start))


def suggestion(name: str, candidates: Iterable[str]) -> str | None:
    """``Did you mean `total`?`` if a candidate is a small edit away."""
    known = sorted(set(candidates) - {name})
    near = [
        other
        for other in difflib.get_close_matches(name, known, n=_LOOKED_AT, cutoff=0.6)
        if edits(name, other) <= (1 if len(name) < _SHORT else 2)
    ]
    return f"Did you mean `{near[0]}`?" if near else None


def edits(text: str, other: str) -> int:
    """The number of insertions, deletions, replacements and transpositions between the texts."""
    before, last = [], list(range(len(other) + 1))
    for row, character in enumerate(text, 1):
        line = [row]
        for column, goal in enumerate(other, 1):
            same = last[column - 1] + (character != goal)
            line.append(min(same, last[column] + 1, line[column - 1] + 1))
            if row > 1 and column > 1 and text[row - 2] == goal and character == other[column - 2]:
                line[column] = min(line[column], before[column - 2] + 1)
        before, last = last, line
    return last[-1]


def _coordinates(start: Position | None, end: Position | None) -> tuple[int, int, int, int]:
    if start is None:
        return 1, 1, 0, 0
    return start.line, start.column + 1, start.offset, (end or start).offset
