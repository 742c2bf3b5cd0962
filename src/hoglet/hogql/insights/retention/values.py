"""``sum`` and ``avg`` in retention: aggregates a property of the counted events.

At gap 0 these are the actor's target events of the starting interval, at later gaps the returning
events of that interval or bracket. Missing and non-numeric values count as 0. ``sum`` is the total
over all actors of a cell, ``avg`` divides it by their number.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results (aggregationType).
"""

from collections.abc import Mapping
from typing import Any

from hoglet.hogql.ast_builders import Expression, call, constant, field
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
