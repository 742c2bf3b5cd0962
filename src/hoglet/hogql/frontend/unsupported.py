"""Rejects syntax that the parser accepts but drops or misinterprets, based on the text.

``WITH TOTALS``, ``IGNORE NULLS`` and similar syntax leaves no trace in the tree; running the query
without it would return something else. ``FORMAT JSON`` after a table would be an alias.
``NULLS LAST`` is the engine's default.
"""

import re

from hoglet.hogql.errors import SYNTAX
from hoglet.kit.errors import SourceError, SourceSpan

CONSTANTS = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|`(?:[^`\\]|\\.)*`|\"(?:[^\"\\]|\\.)*\"|--[^\n]*|//[^\n]*|#[^\n]*|/\*.*?\*/",
    re.DOTALL,
)
"""Strings, quoted names and comments."""
_DROPPED = re.compile(
    r"\bwith\s+totals\b|\b(?:ignore|respect)\s+nulls\b|\bcollate\s+'|\.\s*\*\s*ex(?:clude|cept)\b"
    r"|\bformat\s+(?!asc\b|desc\b|end\b|nulls\b)[a-z]\w*(?=\s*(?:\Z|[;)]))",
    re.IGNORECASE,
)
_QUERY_IN_BRACKETS = re.compile(r"\((?=\s*(?:select|with|\())", re.IGNORECASE)
_BEFORE_QUERY = re.compile(
    r"(?:^|[()]|\b(?:union(?:\s+(?:all|distinct))?|(?:intersect|except)(?:\s+distinct)?))\s*\Z",
    re.IGNORECASE,
)
_LOOK_BACK = 80  # characters; longer whitespace before a bracket is not skipped
_AFTER_BRACKETS = re.compile(r"\s*(order\s+by\b|limit\s+\S+\s+with\s+ties\b)", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[()]|(?<![.\w$])(?:(?P<query>select|union|intersect|except)\b"
    r"|(?P<other>(?:group|partition)\s+by)\b|(?P<order>order\s+by)\b|(?P<by>by)\b"
    r"|(?P<limit>limit)(?=\s+[\w{(])|(?P<offset>offset)(?=\s+[\d{]))",
    re.IGNORECASE,
)
_HINTS = {
    "totals": "use WITH ROLLUP, whose last row is the total",
    "brackets": "use SELECT * FROM (...) ORDER BY x",
    "limit": "write ORDER BY before LIMIT, and each of them once",
}


def refuse_dropped_syntax(source: str) -> None:
    """Reject syntax that the parser drops silently.

    Raises:
        SourceError: such syntax occurs outside of strings and comments.
    """
    blank = without_constants(source)
    match = _DROPPED.search(blank)
    if match is not None:
        words = " ".join(match.group().upper().strip("'(").split())
        raise _dropped(source, words, match.start(), match.end())
    _refuse_after_brackets(source, blank)
    _refuse_repeated(source, blank)


def without_constants(source: str) -> str:
    """The text with strings and comments blanked out; positions do not change."""
    return CONSTANTS.sub(_blanked, source)


def _blanked(match: re.Match[str]) -> str:
    text = match.group()
    if text[0] in "'`\"":
        return "'" + " " * (len(text) - 2) + "'"
    return " " * len(text)


def _refuse_after_brackets(source: str, blank: str) -> None:
    """Reject clauses after a bracketed query.

    ``(select ...) order by x`` drops them, except LIMIT.
    """
    for match in _QUERY_IN_BRACKETS.finditer(blank):
        start = match.start()
        before = blank[max(0, start - _LOOK_BACK) : start]
        if not _BEFORE_QUERY.search(before if start <= _LOOK_BACK else f"x{before}"):
            continue
        end = closing_bracket(blank, match.start() + 1)
        after = _AFTER_BRACKETS.match(blank, end)
        if after:
            words = f"{' '.join(after.group(1).upper().split())} after a query in brackets"
            raise _dropped(source, words, end, after.end())


def _refuse_repeated(source: str, blank: str) -> None:
    """Reject repeated or misplaced clauses; the parser keeps only the last one, or none.

    ``order by a order by b``, ``limit 1 limit 2`` and ``limit 1 order by a``.
    """
    outer: list[set[str]] = []
    clauses: set[str] = set()
    for match in _CLAUSE.finditer(blank):
        word = match.lastgroup
        if match.group() == "(":
            outer.append(clauses)
            clauses = set()
        elif match.group() == ")":
            clauses = outer.pop() if outer else set()
        elif word == "query":
            clauses = set()
        elif word == "by":  # LIMIT BY, which may precede LIMIT
            clauses -= {"limit", "offset"}
        elif word in {"order", "limit", "offset"}:
            if word in clauses or (word == "order" and "limit" in clauses):
                words = " ".join(match.group().upper().split())
                where = "a second" if word in clauses else "after LIMIT"
                text = f"{where} {words}" if word in clauses else f"{words} {where}"
                raise _dropped(source, text, *match.span())
            clauses.add(word)


def closing_bracket(text: str, start: int) -> int:
    """Position of the bracket that closes the one opened before ``start``."""
    depth = 1
    for position in range(start, len(text)):
        depth += (text[position] == "(") - (text[position] == ")")
        if depth == 0:
            return position + 1
    return len(text)


def _dropped(source: str, words: str, start: int, end: int) -> SourceError:
    before = source[:start]
    return SourceError(
        f"{words} is not supported",
        SourceSpan(before.count("\n") + 1, start - before.rfind("\n"), start, end),
        hint=_HINTS.get(words.rsplit(maxsplit=1)[-1].lower()),
        code=SYNTAX,
    )
