"""Checks constant regular expressions when a query is compiled, so that editors show the error.

Source: docs/spec/data-and-queries.md#18-for-editors.
"""

from collections.abc import Sequence
from typing import Any

import re2

from hoglet.hogql.errors import refused
from hoglet.hogql.plan import Expr, Value
from hoglet.kit.json import replace_surrogates

_INVALID = "invalid_input"
_PLACES = {
    **dict.fromkeys(
        (
            "match", "extract", "extractAll", "extractGroups", "extractAllGroups",
            "extractAllGroupsHorizontal", "extractAllGroupsVertical", "regexpExtract",
            "replaceRegexpOne", "replaceRegexpAll", "countMatches", "countMatchesCaseInsensitive",
        ),
        1,
    ),
    "splitByRegexp": 0,
}  # fmt: skip
"""Engine functions and the index of their pattern."""
OPERATORS = frozenset({"=~", "!~", "=~*", "!~*"})
"""Comparisons whose right side is a pattern."""


_TOO_LARGE = ("invalid repetition size", "pattern too large")
"""Reasons that depend on the engine's limits; the engine decides when the query runs."""


def check_pattern_argument(function: str, args: Sequence[Expr], nodes: Sequence[Any]) -> None:
    """Reject a call whose constant pattern is not a regular expression.

    Args:
        function: its name in the engine.
        args: the resolved arguments.
        nodes: the arguments in the query.

    Raises:
        SourceError: at the pattern.
    """
    index = _PLACES.get(function)
    if index is not None and index < len(args):
        check_pattern(args[index], nodes[index] if index < len(nodes) else None)


def check_pattern(pattern: Expr, node: Any) -> None:
    """Reject a constant that is not a regular expression.

    Raises:
        SourceError: at the constant.
    """
    if not isinstance(pattern, Value) or not isinstance(pattern.value, str):
        return
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(replace_surrogates(pattern.value), options)
    except re2.error as error:
        reason = error.args[0] if error.args else b""
        words = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        if words.startswith(_TOO_LARGE):
            return
        message = f"'{pattern.value}' is not a regular expression: {words}"
        raise refused(message.rstrip(": "), node, code=_INVALID) from None
