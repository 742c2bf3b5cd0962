"""Hints for syntax errors that stem from other languages.

The parser's own message is kept; the hint is shown next to it.
"""

_AFTER = {
    "=>": "A lambda is written `x -> ...`",
    "&&": "`and` joins conditions",
    "||": "`or` combines conditions; `||` concatenates strings and needs an operand on both sides",
    "!": "`not x` negates",
    "++": "Write `x := x + 1`",
    "&": "`and` joins conditions",
    "|": "`or` joins conditions",
    "^": "There is no such operator in Hog",
    "=": "`:=` assigns, `=` compares",
    "else": "`else` must directly follow the branch of an `if`",
    '"': "Strings use single quotes; double quotes are for names",
}


def hint_for(source: str, start: int) -> str | None:
    """A hint for a syntax error at ``start``, or None."""
    for begin in (start, start - 1):  # the parser may have consumed the first of two signs
        for sign in ("=>", "&&", "++"):
            if begin >= 0 and source.startswith(sign, begin):
                return _AFTER[sign]
    for sign, hint in _AFTER.items():
        if source.startswith(sign, start):
            return hint
    if source[start : start + 1].isalpha() and not source[start].isascii():
        return "Names that are not ASCII must be in backticks"
    return None
