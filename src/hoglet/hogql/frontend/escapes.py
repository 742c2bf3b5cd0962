r"""Escapes in strings that the parser does not know keep their backslash: ``'t\.co'``.

The parser rejects them. So their backslashes are replaced by a character that the text does not
contain, which keeps its length and all positions, and put back in the tree.

Source: docs/spec/data-and-queries.md#72-functions-array-join-paths.
"""

import re
from typing import Any

import msgspec

from hoglet.hogql.frontend.unsupported import CONSTANTS
from hoglet.syntax import tree

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_KNOWN = frozenset("'\\ntrbfav0x")
_FIRST, _LAST = 0xE000, 0xF8FF
"""The private characters of Unicode, which texts seldom contain."""


def hide_unknown_escapes(source: str) -> tuple[str, str]:
    """The text with the backslashes of unknown escapes replaced, and their replacement.

    The replacement is empty if there are none.
    """
    if "\\" not in source:
        return source, ""
    stand_in = next((chr(code) for code in range(_FIRST, _LAST) if chr(code) not in source), "")

    def of_escape(found: re.Match[str]) -> str:
        return found.group() if found[1] in _KNOWN else stand_in + found[1]

    def of_constant(found: re.Match[str]) -> str:
        text = found.group()
        return _ESCAPE.sub(of_escape, text) if text.startswith("'") else text

    hidden = CONSTANTS.sub(of_constant, source) if stand_in else source
    return (hidden, stand_in) if hidden != source else (source, "")


def show_escapes(value: Any, stand_in: str) -> Any:
    """A tree with the backslashes back in its texts."""
    if isinstance(value, str):
        return value.replace(stand_in, "\\")
    if isinstance(value, tuple):
        return tuple([show_escapes(item, stand_in) for item in value])
    if isinstance(value, dict):
        return {key: show_escapes(item, stand_in) for key, item in value.items()}
    if not isinstance(value, tree.Node):
        return value
    fields = value.__struct_fields__
    return msgspec.structs.replace(
        value, **{name: show_escapes(getattr(value, name), stand_in) for name in fields}
    )
