"""Words that the parser accepts and forgets: refused by looking at the text.

``WITH TOTALS``, ``WITH ROLLUP``, ``NULLS FIRST`` and the like parse, but leave no trace in the
tree. Running such a query without them would answer something else than was asked.
"""

import re

from hoglet.hogql.errors import SYNTAX
from hoglet.kit.errors import SourceError

_SKIPPED = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|`(?:[^`\\]|\\.)*`|\"(?:[^\"\\]|\\.)*\"|--[^\n]*|//[^\n]*|/\*.*?\*/",
    re.DOTALL,
)
_DROPPED = re.compile(
    r"\bwith\s+(?:totals|rollup|cube)\b|\bnulls\s+(?:first|last)\b|\b(?:ignore|respect)\s+nulls\b"
    r"|\bcollate\s+'",
    re.IGNORECASE,
)
_HINTS = {"rollup": "use GROUP BY ROLLUP(...)", "cube": "use GROUP BY CUBE(...)"}


def refuse_dropped_syntax(source: str) -> None:
    """Refuse words that would be dropped silently.

    Raises:
        SourceError: the text holds one of them outside strings and comments.
    """
    if not _DROPPED.search(source):
        return
    blank = _SKIPPED.sub(lambda found: "'" + " " * (len(found.group()) - 2) + "'", source)
    found = _DROPPED.search(blank)
    if found is None:
        return
    words = " ".join(found.group().upper().strip("'").split())
    before = source[: found.start()]
    raise SourceError(
        f"{words} is not supported",
        line=before.count("\n") + 1,
        column=found.start() - (before.rfind("\n") + 1) + 1,
        start=found.start(),
        end=found.end(),
        hint=_HINTS.get(words.split()[-1].lower()),
        code=SYNTAX,
    )
