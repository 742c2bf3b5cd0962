"""Splits printed SQL into tokens."""

import re

_TOKEN = re.compile(
    r"'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|\{\w+:[^{}]+\}|[A-Za-z_$][\w$]*|\d[\w.]*|\S",
    re.DOTALL,
)


def tokens(sql: str) -> list[str]:
    """The words, names and symbols of the SQL; strings as ``''``, names without quotes."""
    words = _TOKEN.findall(sql)
    return [_plain(word) if word[0] in "'`" else word for word in words]


def _plain(word: str) -> str:
    if len(word) == 1:
        return word  # an unclosed quote
    return "''" if word[0] == "'" else word[:-1]
