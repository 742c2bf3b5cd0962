"""Keywords that name a column without AS: ``min(timestamp) first``, ``properties.k key``.

HogQL's grammar takes DATE, FIRST, ID and KEY for names there; this parser refuses two of them. It
reads a name of the same length in their place, so that positions refer to the original text.
"""

import re
from typing import Any

import msgspec

from hoglet.hogql.errors import SYNTAX
from hoglet.hogql.frontend.bracket_errors import error_in_brackets
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree
from hoglet.syntax.parse import parse_query

_KEYWORD = re.compile(r"(?:first|key)\b", re.IGNORECASE)
_MOST = 10  # each is another parse of the query


def parse_with_keyword_names(text: str) -> "tree.Query":
    """Parse a query in which FIRST and KEY may be names without AS.

    Raises:
        SourceError: the first other error, at its place in a query in brackets.
    """
    names: dict[str, str] = {}
    while True:
        try:
            parsed = parse_query(text)
        except SourceError as error:
            if error.error_code != "source_error":
                raise
            within = error_in_brackets(error, text)
            match = _KEYWORD.match(text, within.start)
            if match is None or len(names) == _MOST:
                within.error_code = SYNTAX
                raise within from None
        else:
            return replace_texts(parsed, names) if names else parsed
        stand_in = _unused(text, len(match.group()))
        names[stand_in] = match.group()
        text = text[: match.start()] + stand_in + text[match.end() :]


def _unused(text: str, length: int) -> str:
    candidates = (f"_{number:0{length - 1}}" for number in range(10 ** (length - 1)))
    return next(name for name in candidates if name not in text)


def replace_texts(value: Any, replacements: dict[str, str]) -> Any:
    """The tree with parts of its strings replaced, long ones first."""
    if isinstance(value, str):
        for old in sorted(replacements, key=len, reverse=True):
            value = value.replace(old, replacements[old])
        return value
    if isinstance(value, tuple):
        return tuple([replace_texts(item, replacements) for item in value])
    if isinstance(value, dict):
        return {key: replace_texts(item, replacements) for key, item in value.items()}
    if not isinstance(value, tree.Node):
        return value
    fields = value.__struct_fields__
    return msgspec.structs.replace(
        value, **{name: replace_texts(getattr(value, name), replacements) for name in fields}
    )
