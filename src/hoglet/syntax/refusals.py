"""Error messages in words of the language, and hints for syntax of other languages.

A hint is shown next to the message.
"""

import re
from typing import Any

from hoglet.syntax.scan import tokens

_PATH = re.compile(r"at `\$([^`]*)`")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_CLAUSE = re.compile(r"Unsupported: \w+\.(\w+?)Clause\(\)")
_SET = re.compile(r"invalid set operator (\w+) with modifier Some\(\"(\w+)\"\)")
_PLAIN = {
    "Call": "A function call",
    "Field": "A name",
    "Constant": "A constant",
    "Lambda": "A lambda",
    "ArithmeticOperation": "A calculation",
    "CompareOperation": "A comparison",
    "ArrayAccess": "A position in a list",
    "TupleAccess": "A position in a tuple",
}
"""Names of nodes in messages to users, where they differ from the parser's."""
INSTEAD = {
    "VALUES": "write SELECT 1 AS a UNION ALL SELECT 2, or ARRAY JOIN a list",
    "PIVOT": "write a column for each value, e.g. countIf(event = 'a') AS a",
    "UNPIVOT": "write ARRAY JOIN [('a', a), ('b', b)] AS pair",
    "TOP": "write LIMIT 5 at the end",
    "DISTINCT before OVER": "write uniqExact(x) OVER (...)",
}
"""What to write instead of unsupported syntax."""
_ZONE = re.compile(r"(?:at\s+)?time\s+zone\b", re.IGNORECASE)
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


def plain_message(message: str) -> str:
    """The parser's message with clauses named by their keyword.

    Example:
        >>> plain_message("Unsupported: SelectStmt.settingsClause()")
        'SETTINGS is not supported'
    """
    if message.startswith("DISTINCT in window-function args"):
        return "DISTINCT before OVER is not supported"
    match = _CLAUSE.fullmatch(message) or _SET.fullmatch(message)
    return f"{' '.join(match.groups()).upper()} is not supported" if match else message


def unknown_part(tree: Any, error: str) -> tuple[str, int, int | None]:
    """The part that did not decode, with its position: ``("VALUES", 15, 27)``.

    Args:
        tree: the parser's JSON.
        error: the decoder's message, which ends in the path of the part.
    """
    node, name, start, end = tree, "", 0, None
    for key, index in _STEP.findall("".join(_PATH.findall(error)[-1:])):
        node = _inner(node, key, index)
        if not isinstance(node, dict):
            continue
        name = node.get("node", name)
        if isinstance(node.get("start"), dict) and isinstance(node.get("end"), dict):
            start, end = node["start"]["offset"], node["end"]["offset"]
    if name == "Placeholder" or "`expr`" in error:
        return "A placeholder here", start, end
    if name in _PLAIN:
        return f"{_PLAIN[name]} here", start, end
    word = name.removesuffix("Query").removesuffix("Expr")
    return _WORDS.sub(" ", word).upper() or "This syntax", start, end


def _inner(node: Any, key: str, index: str) -> Any:
    if isinstance(node, dict):
        return node.get(key)
    if isinstance(node, list) and index and int(index) < len(node):
        return node[int(index)]
    return None


_NOT_EXPECTED = re.compile(
    r"(?:trailing tokens after expression|unexpected token in expression|unexpected token)\b.*",
    re.DOTALL,
)
_EXPECTED = re.compile(r"expected (?P<what>.+?),? got \w+(?:\(.*\))?$", re.DOTALL)
_QUOTED = re.compile(r"\A(?P<quote>['`])(?P<text>.+)(?P=quote)\Z")
_TOKEN = re.compile(r"\s*(:?[\w$]+|'(?:[^'\\]|\\.)*'|:=|->|[=!<>?]{2}|\S)")
_KEYWORD = re.compile(r"\.\s*([A-Za-z]+)\s*\Z")
_MAX_CHARACTERS = 40  # of a token


def in_words(message: str, source: str, start: int, *, what: str) -> str:
    """The parser's message without names of its tokens.

    Args:
        message: e.g. ``"expected ), got Eof"``.
        source: the text that was parsed.
        start: offset of the error.
        what: what the text is, e.g. ``"program"``.

    Example:
        >>> in_words("unexpected token in expression: Keyword(Let)", "f(let", 2, what="program")
        "'let' is not expected here"
        >>> in_words("expected ), got Eof", "f(1", 3, what="program")
        "')' is missing at the end"
    """
    keyword = _KEYWORD.search(source, 0, start) if "after '.'" in message else None
    if keyword:
        return (
            f"{_quoted(keyword[1])} is a keyword: write ['{keyword[1]}'] instead of .{keyword[1]}"
        )
    token = _TOKEN.match(source, start)
    if token and " name" in message:  # the parser has read what it found instead of the name
        *_, token = _TOKEN.finditer(source, 0, start)
    here = _quoted(token[1][:_MAX_CHARACTERS]) if token else ""
    if _NOT_EXPECTED.match(message):
        return f"{here} is not expected here" if here else f"The {what} ends too early"
    if match := _EXPECTED.match(message):
        expected = _QUOTED.sub(r"\g<text>", match["what"])
        visible = expected if " " in expected or expected.isupper() else f"'{expected}'"
        after = f"is expected before {here}" if here else "is missing at the end"
        return f"{visible} {after}"
    return message


def _quoted(token: str) -> str:
    return token if token.startswith("'") else f"'{token}'"


_AFTER = {
    "=>": "A lambda is written `x -> ...`",
    "===": "`==` compares",
    "!==": "`!=` compares",
    "+=": "Write `x := x + 1`",
    "-=": "Write `x := x - 1`",
    "&&": "`and` joins conditions",
    "||": "`or` combines conditions; `||` concatenates strings and needs an operand on both sides",
    "!": "`not x` negates",
    "++": "Write `x := x + 1`",
    "&": "`and` joins conditions",
    "|": "`or` joins conditions",
    "^": "There is no such operator in Hog",
    "@": "There is no such operator in Hog",
    "=": "`:=` assigns, `=` compares",
    "else": "`else` must directly follow the branch of an `if`",
    '"': "Strings use single quotes; double quotes are for names",
}


_PATTERNS = (
    (re.compile(r"let\s+\w+\s+of\b"), "Write `for (let x in list)`"),
    (re.compile(r"fun\s*\("), "A function without a name is written `x -> { ... }`"),
)


HINTS_OF_PROGRAMS = frozenset(
    (
        *(_AFTER[sign] for sign in ("=", "else", "++", "^", "+=", "-=")),
        *(hint for _, hint in _PATTERNS),
    )
)
"""Hints that do not apply to queries."""


_FOREIGN_SIGNS = frozenset("!&|^@")


def foreign_sign(source: str, start: int) -> int | None:
    """The offset of the first sign from ``start`` on that the language does not have.

    The parser tries another way to read the text before such a sign, and reports the end of that.
    """
    signs = (token for token in tokens(source) if token.kind == "operator")
    return next(
        (sign.offset for sign in signs if sign.offset > start and sign.text in _FOREIGN_SIGNS),
        None,
    )


def hint_for(source: str, start: int) -> str | None:
    """A hint for a syntax error at ``start``, or None."""
    for begin in (start, start - 1):  # the parser may have consumed the first of two signs
        for sign in ("=>", "&&", "++", "+=", "-=", "===", "!=="):
            if begin >= 0 and source.startswith(sign, begin):
                return _AFTER[sign]
    for sign, hint in _AFTER.items():
        if source.startswith(sign, start):
            return hint
    for pattern, hint in _PATTERNS:
        if pattern.match(source, start):
            return hint
    if _ZONE.match(source, start):
        return "Write toTimeZone(x, 'Europe/Berlin')"
    if source[start : start + 1].isalpha() and not source[start].isascii():
        return "Names that are not ASCII must be in backticks"
    return None
