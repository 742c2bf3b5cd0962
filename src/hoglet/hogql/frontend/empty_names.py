"""Rejects empty quoted names, which no column, alias or property can have."""

import re

from hoglet.hogql.errors import SYNTAX
from hoglet.kit.errors import SourceError
from hoglet.syntax.place import place
from hoglet.syntax.scan import tokens

# The parser drops an escaped NUL, so a name of only NULs is empty too.
_EMPTY = re.compile(r"`(?:\\0)*+`|\"(?:\\0)*+\"")


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
    for token in tokens(source):
        if token.kind == "value" and _EMPTY.fullmatch(token.text):
            end = token.offset + len(token.text)
            raise SourceError(
                "A quoted name must not be empty.",
                **place(source, token.offset, end),
                hint="write the name between the quotes",
                code=SYNTAX,
            )
