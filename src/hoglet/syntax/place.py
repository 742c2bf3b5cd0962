"""Converts offsets to lines and columns."""

from typing import TypedDict


class Place(TypedDict):
    """A position in a text; line and column from 1, offsets in characters."""

    line: int
    column: int
    start: int
    end: int


def place(text: str, start: int, end: int) -> Place:
    """The position of ``text[start:end]``; offsets outside of the text are clamped."""
    start = max(0, min(start, len(text)))
    before = text[:start]
    return Place(
        line=before.count("\n") + 1,
        column=start - before.rfind("\n"),
        start=start,
        end=max(start, min(end, len(text))),
    )
