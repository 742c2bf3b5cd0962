"""Finds the error of a query in brackets, about which the parser says something else."""

import re

from hoglet.hogql.frontend.unsupported import closing_bracket, without_constants
from hoglet.kit.errors import SourceError
from hoglet.syntax.parse import parse_query
from hoglet.syntax.source_span import source_span

_QUERY_IN_BRACKETS = re.compile(r"\((?=\s*(?:select|with)\b)", re.IGNORECASE)
_MAX_BRACKETS = 10  # each is parsed once more


def error_in_brackets(error: SourceError, source: str) -> SourceError:
    """The error of the innermost bracketed query around the error that does not parse.

    The parser tries such a query as an expression too, and complains about its first word.
    """
    blank = without_constants(source)
    brackets = [*_QUERY_IN_BRACKETS.finditer(blank, 0, error.start)][-_MAX_BRACKETS:]
    for bracket in reversed(brackets):
        start, end = bracket.end(), closing_bracket(blank, bracket.end())
        if end <= error.start:
            continue
        inner = source[start : end - (blank[end - 1] == ")")]
        try:
            parse_query(inner)
        except SourceError as within:
            within = error_in_brackets(within, inner)
            is_at_end = within.start >= len(inner.rstrip())
            at = (end - 1, end) if is_at_end else (start + within.start, start + within.end)
            span = source_span(source, *at)
            return SourceError(within.message, span, hint=within.hint)
    return error
