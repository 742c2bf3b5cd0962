"""``sum`` and ``avg`` of retention: a number of the events that make an actor count.

At gap 0 these are the actor's target events of the starting interval, at later gaps the returning
events of that interval or bracket. A property that is missing or no number counts 0. ``sum`` adds
up over all actors of a cell, ``avg`` divides by their number.

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
"""What an actor adds to the cell of one start and one gap."""


class AggregatedProperty:
    """The property that a retention adds up.

    Args:
        filter_: a ``retentionFilter`` whose ``aggregationType`` is ``sum`` or ``avg``.

    Raises:
        SourceError: it names no property, or asks for what cannot be added up.
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
                "Cumulative retention counts people only: aggregationType must be count",
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
    """What to add up; None where people are counted."""
    if filter_.get("aggregationType") in {None, "count"}:
        return None
    return AggregatedProperty(filter_)
