"""Hints for unknown names that were meant as a string or as a part of a longer name."""

import re

from hoglet.kit.errors import SourceError

_UNKNOWN = "Unable to resolve field"
_BEFORE = re.compile(r"\bproperties\.(?P<name>[\w$]+(?:[-/][\w$]+)*[-/])\Z")
_AFTER = re.compile(r"[\w$]+(?:[-/][\w$]+)*")


def hint_for_unknown_name(query: str, error: SourceError) -> str | None:
    """What to write instead of an unknown name; None for other errors and names.

    Example:
        ``properties.utm-source`` is a subtraction, and ``"purchase"`` a name.
    """
    if query[error.start : error.start + 1] == '"':
        return "strings use single quotes, double quotes are for names"
    before = _BEFORE.search(query, 0, error.start)
    after = _AFTER.match(query, error.start)
    if not error.message.startswith(_UNKNOWN) or before is None or after is None:
        return None
    return f"for the property of that name, write properties['{before['name']}{after[0]}']"
