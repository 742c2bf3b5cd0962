"""What to write instead, for slips that other languages teach.

The parser's own messages are kept as they are; a hint stands beside the message.
"""

_AFTER = {
    "=>": "A lambda is written `x -> ...`",
    "&&": "`and` joins conditions",
    "||": "`or` joins conditions; `||` joins text and needs something on both sides",
    "!": "`not x` negates",
    "++": "Write `x := x + 1`",
    "&": "`and` joins conditions",
    "|": "`or` joins conditions",
    "^": "There is no such operator in Hog",
    "=": "`:=` assigns, `=` compares",
    "else": "`else` follows directly after the branch of an `if`",
    '"': "Texts stand in single quotes; double quotes are for names",
}


def hint_for(source: str, start: int) -> str | None:
    """A hint for a syntax error at ``start``, or None."""
    for begin in (start, start - 1):  # the parser may have read the first sign of two
        for sign in ("=>", "&&", "++"):
            if begin >= 0 and source.startswith(sign, begin):
                return _AFTER[sign]
    for sign, hint in _AFTER.items():
        if source.startswith(sign, start):
            return hint
    if source[start : start + 1].isalpha() and not source[start].isascii():
        return "Names that are not ASCII stand in backticks"
    return None
