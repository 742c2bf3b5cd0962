r"""Parses HogQL, including standard SQL that the parser rejects or silently drops.

Rejected syntax is rewritten to supported syntax of the same length, so that error positions refer
to the original text: ``extract(day from x)`` becomes ``extract(day :=   x)``. Dropped syntax
(``NULLS FIRST``, ``WITH ROLLUP``) is restored by ``restore``. The backslashes of
escapes that the parser rejects (``'t\.co'``) are replaced by a character that the text does not
contain, and put back in the tree.

Source: docs/spec/data-and-queries.md#72-functions-array-join-paths.
"""

import re
from collections.abc import Iterator

from hoglet.hogql.errors import SYNTAX, in_expression
from hoglet.hogql.frontend.keyword_names import parse_with_keyword_names, replace_texts
from hoglet.hogql.frontend.restore import DISTINCT_ON, restored
from hoglet.hogql.frontend.syntax_errors import reword
from hoglet.hogql.frontend.unsupported import (
    CONSTANTS,
    closing_bracket,
    refuse_dropped_syntax,
    without_constants,
)
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree
from hoglet.syntax.parse import parse_query_expression
from hoglet.syntax.scan import tokens
from hoglet.syntax.source_span import source_span

_ANY = re.IGNORECASE
_EXTRACT = re.compile(r"\bextract\s*\(\s*(?P<unit>'\s*'|[a-z_]\w*)\s+(?P<word>from)\b", _ANY)
_SUBSTRING = re.compile(r"\b(?:substring|substr)\s*\(|[()]|\b(?P<word>from|for)\b", _ANY)
_EXCEPT = re.compile(r"\*(?P<word>\s+except|except\s)\s*\((?!\s*(?:select\b|with\b|\())", _ANY)
_IS = re.compile(r"\b(?P<word>is(?P<not>\s+not)?)\s+(?:true|false)\b", _ANY)
_PLURAL = re.compile(
    r"\binterval\s+(?:\d+|\{[^{}]*\}|[\w.$]+|'\s*')\s+(?:second|minute|hour|day|week|month|quarter|year)(s)\b",
    _ANY,
)
_REWORDED = ("extract", "substr", "except", "interval", "distinct")
_ARROW = re.compile(r"\b(?:years|months|weeks|days|hours|mins|secs)\s*(=>)", _ANY)


def read_query(source: str) -> "tree.Query":
    """Parse HogQL text; syntax that the parser would drop is restored or rejected.

    Raises:
        SourceError: code ``hogql_syntax_error``, with the position.
    """
    hidden, stand_in = hide_unknown_escapes(reworded(source))
    try:
        parsed = parse_with_keyword_names(hidden)
    except SourceError as error:
        reword(error, source)
        raise
    refuse_empty_names(source)
    refuse_dropped_syntax(source)
    if stand_in:
        parsed = replace_texts(parsed, {stand_in: "\\"})
    return restored(parsed, source, read_expression)


def read_expression(source: str, path: str | None = None) -> "tree.Expression":
    """Parse a HogQL expression, e.g. the key of a property filter of type ``hogql``.

    Args:
        source: the text.
        path: its key in a JSON query, for errors: ``properties__0__key``.

    Raises:
        SourceError: with the position in ``source``.
    """
    hidden, stand_in = hide_unknown_escapes(reworded(source))
    try:
        parsed = parse_query_expression(hidden)
        refuse_empty_names(source)
    except SourceError as error:
        if error.error_code == "source_error":
            error.error_code = SYNTAX
            reword(error, source)
        if path is not None:
            raise in_expression(error, path, source) from None
        raise
    return replace_texts(parsed, {stand_in: "\\"}) if stand_in else parsed


def reworded(source: str) -> str:
    """The text rewritten for the parser, with the same length."""
    if not any(word in source.lower() for word in _REWORDED) and _IS.search(source) is None:
        return source
    blank, edited = without_constants(source), list(source)
    for match in _EXTRACT.finditer(blank):
        unit = source[match.start("unit") : match.end("unit")]
        edited[match.start("unit") : match.end("unit")] = unit.replace("'", " ")
        edited[match.start("word") : match.end("word")] = ":=  "
    for start, end in _words_of_substring(blank):
        edited[start:end] = ",".ljust(end - start)
    for match in _IS.finditer(blank):
        sign = "!=" if match["not"] else "="
        edited[match.start("word") : match.end("word")] = sign.ljust(len(match["word"]))
    for match in _PLURAL.finditer(blank):
        edited[match.start(1)] = " "
    for match in _ARROW.finditer(blank) if "make_interval" in source else ():
        edited[match.start(1) : match.end(1)] = ":="
    for match in DISTINCT_ON.finditer(blank):
        start, end = match.start("word"), closing_bracket(blank, match.end())
        edited[start:end] = " " * (end - start)
    for match in _EXCEPT.finditer(blank):
        edited[match.start("word") : match.end("word")] = "exclude".rjust(len(match["word"]))
    return "".join(edited)


def _words_of_substring(blank: str) -> Iterator[tuple[int, int]]:
    """Positions of FROM and FOR of a ``substring`` call, excluding inner brackets."""
    opened: list[bool] = []
    for match in _SUBSTRING.finditer(blank):
        if match["word"]:
            if opened and opened[-1]:
                yield match.span("word")
        elif match.group() == ")":
            del opened[-1:]
        else:
            opened.append(match.group() != "(")


# The parser drops an escaped NUL, so a name of only NULs is empty too. A text is a name after AS.
_EMPTY = re.compile(r"`(?:\\0)*+`|\"(?:\\0)*+\"|'(?:\\0)*+'")


def refuse_empty_names(source: str) -> None:
    """Reject an empty quoted name in a query or expression.

    Example:
        >>> refuse_empty_names("select properties.`` from events")
        Traceback (most recent call last):
        hoglet.kit.errors.SourceError: 1:19: A quoted name must not be empty.

    Raises:
        SourceError: code ``hogql_syntax_error``, at the name.
    """
    if _EMPTY.search(source) is None:  # the common case takes one search
        return
    previous = ""
    for token in tokens(source):
        is_name = not token.text.startswith("'") or previous == "as"
        previous = token.text.lower()
        if is_name and token.kind == "value" and _EMPTY.fullmatch(token.text):
            end = token.offset + len(token.text)
            raise SourceError(
                "A quoted name must not be empty.",
                source_span(source, token.offset, end),
                hint="write the name between the quotes",
                code=SYNTAX,
            )


_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_KNOWN = frozenset("'\\ntrbfav0x")
_FIRST, _LAST = 0xE000, 0xF8FF
"""Unicode's private-use characters, which rarely occur in text."""


def hide_unknown_escapes(source: str) -> tuple[str, str]:
    """The text with the backslashes of unknown escapes replaced, and their replacement.

    The replacement is empty if there are none.
    """
    if "\\" not in source:
        return source, ""
    stand_in = next((chr(code) for code in range(_FIRST, _LAST) if chr(code) not in source), "")

    def of_escape(match: re.Match[str]) -> str:
        return match.group() if match[1] in _KNOWN else stand_in + match[1]

    def of_constant(match: re.Match[str]) -> str:
        text = match.group()
        return _ESCAPE.sub(of_escape, text) if text.startswith("'") else text

    hidden = CONSTANTS.sub(of_constant, source) if stand_in else source
    return (hidden, stand_in) if hidden != source else (source, "")
