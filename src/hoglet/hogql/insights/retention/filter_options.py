"""Options of a ``retentionFilter``: custom brackets, and ``sum`` or ``avg`` of a property.

Custom brackets combine several intervals into one column: ``[1, 3, 5]`` with days are the columns
``Day 0``, ``Day 1``, ``Day 2-4`` and ``Day 5-9``. A person who returns in any interval of a bracket
is counted once in it.

``sum`` and ``avg`` aggregate a property of the counted events. At gap 0 these are the actor's
target events of the starting interval, at later gaps the returning events of that interval or
bracket. Missing and non-numeric values count as 0. ``sum`` is the total over all actors of a cell,
``avg`` divides it by their number.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results (retentionCustomBrackets,
aggregationType).
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from hoglet.hogql.ast_builders import Expression, call, compare, constant, field
from hoglet.hogql.errors import refused

ADDED = (
    "if(gap = 0, "
    "arraySum(arrayMap((at, seen) -> if(at = 0 and seen.2 >= {begin}, seen.3, 0), "
    "{target_gaps}, targets)), "
    "arraySum(arrayMap((at, seen) -> if(at = gap, seen.3, 0), {gaps}, returns)))"
)
"""An actor's contribution to a cell of a start and a gap."""


class AggregatedProperty:
    """The property that retention aggregates.

    Args:
        filter_: a ``retentionFilter`` whose ``aggregationType`` is ``sum`` or ``avg``.

    Raises:
        SourceError: it has no property, or cannot be aggregated.
    """

    def __init__(self, filter_: Mapping[str, Any]) -> None:
        name = filter_.get("aggregationProperty")
        if not name:
            raise refused(
                f"aggregationType {filter_['aggregationType']} needs a property",
                attr="retentionFilter__aggregationProperty",
            )
        if filter_.get("cumulative"):
            raise refused(
                "Cumulative retention supports only aggregationType count",
                attr="retentionFilter__cumulative",
            )
        self.is_average = filter_["aggregationType"] == "avg"
        self._chain = ("properties", str(name))
        if filter_.get("aggregationPropertyType") == "person":
            self._chain = ("person", *self._chain)

    def number(self) -> Expression:
        """The number of an event."""
        return call("ifNull", call("toFloat", field(*self._chain)), constant(0.0))

    def of_cell(self, added: Expression) -> Expression:
        """The aggregate over the actors of a cell."""
        return call("avg" if self.is_average else "sum", added)


def aggregated_property(filter_: Mapping[str, Any]) -> AggregatedProperty | None:
    """The aggregated property; None if persons are counted."""
    if filter_.get("aggregationType") in {None, "count"}:
        return None
    return AggregatedProperty(filter_)


_MOST = 100


def brackets_of(filter_: Mapping[str, Any]) -> list[int]:
    """The lengths of the brackets of a ``retentionFilter``; empty means one interval per column.

    Raises:
        SourceError: too many, or one without length.
    """
    lengths = list(filter_.get("retentionCustomBrackets") or [])
    if len(lengths) > _MOST or not all(each > 0 for each in lengths):
        raise refused(
            f"retentionCustomBrackets are at most {_MOST} whole numbers above 0",
            attr="retentionFilter__retentionCustomBrackets",
        )
    return lengths


def bracket_of(brackets: Sequence[int]) -> Expression:
    """The index of the bracket of ``gap``; one after the last for later gaps."""
    cases: list[Expression] = []
    for number, end in enumerate(accumulate(brackets), 1):
        cases += [compare("<=", field("gap"), constant(end)), constant(number)]
    index = call("multiIf", *cases, constant(len(brackets) + 1))
    return call("_toInt64", index)


def column_labels(brackets: Sequence[int], intervals: int) -> list[str]:
    """Labels of columns, e.g. ``["0", "1", "2-4"]``: one per bracket that has started."""
    if not brackets:
        return [str(gap) for gap in range(intervals)]
    starts = [1, *(end + 1 for end in accumulate(brackets))]
    return ["0"] + [
        str(start) if length == 1 else f"{start}-{start + length - 1}"
        for start, length in zip(starts, brackets, strict=False)
        if start < intervals
    ]
