"""Brackets of retention: several intervals combined into one column.

``[1, 3, 5]`` with days are the columns ``Day 0``, ``Day 1``, ``Day 2-4`` and ``Day 5-9``. A person
who returns in any interval of a bracket is counted once in it.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results (retentionCustomBrackets).
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from hoglet.hogql.ast_builders import Expression, call, compare, constant, field
from hoglet.hogql.errors import refused

_MOST = 100


def brackets_of(filter_: Mapping[str, Any]) -> list[int]:
    """The lengths of the brackets of a ``retentionFilter``; empty means one interval per column.

    Raises:
        SourceError: too many, or one without length.
    """
    found = list(filter_.get("retentionCustomBrackets") or [])
    if len(found) > _MOST or not all(isinstance(each, int) and each > 0 for each in found):
        raise refused(
            f"retentionCustomBrackets are at most {_MOST} whole numbers above 0",
            attr="retentionFilter__retentionCustomBrackets",
        )
    return found


def bracket_of(brackets: Sequence[int]) -> Expression:
    """The index of the bracket of ``gap``; one after the last for later gaps."""
    cases: list[Expression] = []
    for number, end in enumerate(accumulate(brackets), 1):
        cases += [compare("<=", field("gap"), constant(end)), constant(number)]
    found = call("multiIf", *cases, constant(len(brackets) + 1))
    return call("_toInt64", found)


def column_labels(brackets: Sequence[int], intervals: int) -> list[str]:
    """Labels of columns, e.g. ``["0", "1", "2-4"]``: brackets that start within some intervals."""
    if not brackets:
        return [str(gap) for gap in range(intervals)]
    starts = [1, *(end + 1 for end in accumulate(brackets))]
    return ["0"] + [
        str(start) if length == 1 else f"{start}-{start + length - 1}"
        for start, length in zip(starts, brackets, strict=False)
        if start < intervals
    ]
