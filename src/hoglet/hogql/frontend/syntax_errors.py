"""Rewords syntax errors of the parser for people who write queries, and adds hints.

The parser's messages name tokens and speak of programs. A hint names the HogQL equivalent of
another dialect's syntax, or the keyword that is nearly spelled.
"""

import re
from difflib import get_close_matches

from hoglet.hogql.errors import LISTS_TABLES
from hoglet.hogql.frontend.keyword_names import parse_with_keyword_names
from hoglet.hogql.frontend.unsupported import without_constants
from hoglet.kit.errors import SourceError
from hoglet.syntax.refusals import HINTS_OF_PROGRAMS, in_words

_ANY = re.IGNORECASE
_UNIT = r"(?:second|minute|hour|day|week|month|quarter|year)s?\b"
_BEGINNING = re.compile(r"mismatched input '(?P<word>.*)' expecting \{SELECT", re.DOTALL)
_NO_QUERY = re.compile(r"A query begins with SELECT or WITH, not with '(?P<word>[a-z_]+)'", _ANY)


def reword(error: SourceError, source: str) -> None:
    """Replace the parser's message by one about queries, and its hint by one about HogQL.

    Args:
        error: the parser's error, which is changed.
        source: the text as the user wrote it.
    """
    error.message = _in_words(error, source)
    hint = None if error.hint in HINTS_OF_PROGRAMS else error.hint
    error.hint = _hint(source, error) or hint
    match = _NO_QUERY.match(error.message)
    if match is not None and source.startswith(match["word"], error.start):
        error.end = error.start + len(match["word"])
        misspelled = _misspelled([match["word"]])
        error.hint = misspelled or _STATEMENTS.get(match["word"].lower(), _ONLY_READ)
    if match is not None and (named := _NAMED_VALUE.search(source, 0, error.start)):
        error.hint = f"a value is named the other way round: WITH value AS {named['name']}"


_NAMED_VALUE = re.compile(r"(?:\bwith|,)\s+(?P<name>\w+)\s+as\s*\(\s*\Z", _ANY)
_ONLY_READ = "queries only read: SELECT event FROM events"
_STATEMENTS = {
    "explain": "run SELECT with explain: true, which adds its plan",
    **dict.fromkeys(("show", "describe", "desc"), LISTS_TABLES),
}


def _in_words(error: SourceError, source: str) -> str:
    """The parser's message without token names."""
    message = error.message
    if match := _BEGINNING.match(message):
        words = match["word"].strip(" '\n").split()
        if words in ([], ["<eof>"]):
            return "The query ends too early"
        return f"A query begins with SELECT or WITH, not with '{words[0][:40]}'"
    return in_words(message, source, error.start, what="query")


_NEAR = 30  # characters around the position of the error
_HINTS = (
    (re.compile(r"\.\s*-\s*\d"), "list positions from 1 on, e.g. properties.list.1"),
    (re.compile(r"\bfetch\s+(?:first|next)\b|\boffset\s+\S+\s+rows?\b", _ANY), "LIMIT 3 OFFSET 2"),
    (re.compile(r"\bat\s+time\s+zone\b", _ANY), "toTimeZone(x, 'Europe/Berlin')"),
    (re.compile(r"\*\s*replace\s*\(", _ANY), "* EXCLUDE (a), f(a) AS a"),
    (re.compile(r"\b(?:date|timestamp)\s*'", _ANY), "toDate('2026-01-05')"),
    (re.compile(r"\b(?:regexp|rlike|similar\s+to)\b", _ANY), "x =~ 'pattern'"),
    (re.compile(r"->>?\s*'"), "properties.key or properties['a key']"),
    (re.compile(r"\bi?like\s*[%_]", _ANY), "event LIKE '%a%', the pattern as a string"),
    (re.compile(rf"(?<!interval)\s\d+\s+{_UNIT}", _ANY), "INTERVAL 5 MINUTE"),
    (re.compile(r"\b(?:group|order)\s+(?!by\b)\w", _ANY), "GROUP BY x, ORDER BY x"),
    (
        re.compile(rf"\binterval\s+\S+\s+(?!{_UNIT})\w", _ANY),
        "interval 1 day; units are second, minute, hour, day, week, month, quarter, year",
    ),
    (re.compile(r"\blateral\s+view\b|\bexplode\s*\(", _ANY), "ARRAY JOIN list AS item"),
    (
        re.compile(r"\blateral\s*\(", _ANY),
        "(SELECT ...) as a column, which can use columns of the outer query",
    ),
    (re.compile(r"\bexcept\s+distinct\b", _ANY), "SELECT DISTINCT x ... EXCEPT SELECT y"),
    (re.compile(r"\bdiv\b", _ANY), "intDiv(a, b)"),
    (re.compile(r"\bmod\b", _ANY), "a % b"),
    (
        re.compile(rf"[)\]]\s+{_UNIT}", _ANY),
        "AS before the name: toDate(timestamp) AS day",
    ),
)
"""Syntax of other dialects, and its HogQL equivalent."""


def _hint(source: str, error: SourceError) -> str | None:
    if error.message == "unterminated string literal":
        return "a quote inside a string is doubled: 'it''s'"
    if error.message.startswith("Unsupported interval unit"):
        return "write interval 1 day + interval 2 hour"
    start = max(0, error.start - _NEAR)
    blank = without_constants(source)
    around = blank[start : error.start + _NEAR]
    instead = next((words for pattern, words in _HINTS if pattern.search(around)), None)
    if instead is None and _is_unended_case(blank):
        instead = "CASE WHEN a THEN b ELSE c END"
    if instead is not None:
        return f"write {instead}"
    here = _WORD.match(blank, error.start)
    words = [*_WORD.findall(blank[: error.start])[-3:], *([here[0]] if here else [])]
    return _misspelled(words) or _missing_as(source, error.start, here[0] if here else "")


def _missing_as(source: str, start: int, word: str) -> str | None:
    """A hint for a keyword that names a column: ``count() last``."""
    is_clause = word.lower() in _KEYWORDS
    if not word or is_clause or _parses(f"SELECT 1 {word}"):  # no keyword
        return None
    if not _parses(f"{source[:start]}AS {source[start:]}"):
        return None
    return f"write AS before the name: AS {word}"


def _parses(text: str) -> bool:
    try:
        parse_with_keyword_names(text)
    except SourceError:
        return False
    return True


_WORD = re.compile(r"(?<![.$\w])[a-z]+\b(?!\s*[.(])", _ANY)
_KEYWORDS = (
    "select", "from", "where", "group", "having", "order", "limit", "offset", "join", "left",
    "union", "between", "distinct", "interval", "and",
)  # fmt: skip


def _misspelled(words: list[str]) -> str | None:
    """A hint for the word that is nearly a keyword; the parser takes ``form`` for an alias."""
    for word in reversed(words):
        close = get_close_matches(word.lower(), _KEYWORDS, 1, 0.75)
        if close and word.lower().removesuffix("s") != close[0]:
            return f"did you mean {close[0].upper()} instead of '{word}'?"
    return None


def _is_unended_case(blank: str) -> bool:
    words = [word.lower() for word in _WORD.findall(blank)]
    return words.count("case") > words.count("end")
