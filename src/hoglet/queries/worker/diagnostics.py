"""Errors, warnings and notices with positions, for editors.

Source: docs/spec/data-and-queries.md#18-for-editors.
"""

import re
from typing import TypedDict

from hoglet.kit.errors import SourceError


class Finding(TypedDict):
    """An error, a warning or a notice: offsets in characters, the end exclusive."""

    message: str
    start: int
    end: int
    fix: str | None


_MEANT = re.compile(r"Did you mean ['`](?P<name>[^'`]+)['`]\?")
_NAME = re.compile(r"[\w$]+\Z")


def finding(
    text: str, message: str, start: int = 0, end: int = 0, *, fix: str | None = None
) -> Finding:
    """A finding with a range that editors can show.

    Without a position it spans the whole text; an empty range becomes the next character.
    """
    start, end = max(0, min(start, len(text))), max(0, min(end, len(text)))
    if start == end == 0:
        end = len(text)
    elif start >= end:
        start, end = (start, start + 1) if start < len(text) else (len(text) - 1, len(text))
    return {"message": message, "start": start, "end": end, "fix": fix}


def of_error(text: str, error: SourceError, shift: int = 0) -> Finding:
    """An error with its fix; ``shift`` is the offset of its text in ``text``."""
    message = error.message
    if error.hint:
        sentence = message if message.endswith(("?", "!")) else f"{message.rstrip('.')}."
        message = f"{sentence} {error.hint[:1].upper()}{error.hint[1:].rstrip('.')}."
    start, end = error.start + shift, error.end + shift
    return finding(text, message, start, end, fix=_fix(text[start:end], message))


def _fix(written: str, message: str) -> str | None:
    """The suggested name, if the error covers exactly a name."""
    meant = _MEANT.search(message)
    return meant["name"] if meant and _NAME.match(written) else None
