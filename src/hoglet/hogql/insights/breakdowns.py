"""Breakdowns of insights: their values, and the placeholders for missing and remaining ones.

Source: docs/spec/query-endpoints.md#56-answer and
docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hoglet.hogql.ast_builders import (
    Expression,
    array,
    call,
    compare,
    constant,
    fill,
    some,
)
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import located
from hoglet.hogql.insights.breakdown_items import breakdown_items
from hoglet.hogql.insights.breakdown_parts import (
    NONE,
    bin_of,
    bins_of,
    check_items,
    cohorts_of,
    part_of,
)
from hoglet.hogql.insights.build_result import Rows

OTHER = "Other"
DEFAULT_LIMIT = 25
_LIMIT_OF_MAPS = 300
"""Default limit of world maps, which show every country."""

_EVERYBODY = {"all": "all users"}

REST = "$$_hoglet_other_$$"
"""Stands for all values beyond the limit, inside a query."""

_TOP = (
    "SELECT breakdown FROM (SELECT {key} AS breakdown, {size} AS size FROM events WHERE {where} "
    "GROUP BY breakdown) ORDER BY size DESC, breakdown LIMIT {limit}"
)
# For two periods: the largest values of the current one, then values only of the earlier one.
_TOP_OF_BOTH = (
    "SELECT breakdown FROM (SELECT {key} AS breakdown, if({present}, 0, 1) AS period, "
    "{size} AS size FROM events WHERE {where} GROUP BY breakdown, period) GROUP BY breakdown "
    "ORDER BY min(period), tupleElement(argMin(tuple(size), period), 1) DESC, breakdown "
    "LIMIT {limit}"
)


class Breakdown(msgspec.Struct, frozen=True):
    """``parts`` are string expressions; ``many`` says whether values are returned as arrays.

    ``bins`` has the number of bins of each part, or None.
    """

    parts: tuple[Expression, ...]
    many: bool
    limit: int
    names: tuple[str, ...]
    bins: tuple[int | None, ...]
    hides_rest: bool = False
    is_cohorts: bool = False
    cohort_names: Mapping[str, str] = {}

    def key(self, where: Expression | None = None) -> Expression:
        """The values of an event as an array, with a placeholder for NULL.

        Args:
            where: the events from which bins are computed; required with bins.
        """
        return call(
            "array",
            *(
                call("ifNull", part, constant(NONE)) if bins is None else bin_of(part, bins, where)
                for part, bins in zip(self.parts, self.bins, strict=True)
            ),
        )

    def limited(
        self, where: Expression, size: Expression, before: Expression | None = None
    ) -> Expression:
        """The key with values beyond the limit combined.

        Args:
            where: the counted events.
            size: the aggregate that determines the largest values.
            before: events of an earlier period; values that occur only there come last.
        """
        key = self.key(where)
        if self.is_cohorts:  # only the listed cohorts, so there is no limit
            return key
        limit = constant(self.limit)
        if before is None:
            top = fill(_TOP, key=key, size=size, where=where, limit=limit)
        else:
            both = some([where, before])
            top = fill(_TOP_OF_BOTH, key=key, size=size, present=where, where=both, limit=limit)
        return call("if", compare("in", key, top), key, self.rest())

    def shows(self, key: Sequence[str]) -> bool:
        """Whether a key is part of the result; combined values can be hidden."""
        return not (self.hides_rest and is_rest(key))

    def rest(self) -> Expression:
        """The key of combined values."""
        return array([REST] * len(self.parts))

    def nothing(self) -> Expression:
        """The key of events without any of the properties."""
        return array([NONE] * len(self.parts))

    def displayed(self, values: Sequence[str | None]) -> Any:
        """``breakdown_value`` of a result: a list, or the single value."""
        return list(values) if self.many else values[0]

    def label(self, values: Sequence[str | None]) -> str:
        """A value in labels; cohorts by name."""
        return label(self.named(values))

    def named(self, values: Sequence[str | None]) -> list[str | None]:
        """The values with cohort names; everybody is ``all users``."""
        return [value and self.cohort_names.get(value, value) for value in values]


def breakdown_of(query: Mapping[str, Any], context: QueryContext) -> Breakdown | None:
    """The breakdown of an insight, or None.

    Raises:
        SourceError: an unknown breakdown type.
    """
    with located("breakdownFilter"):
        breakdown = _breakdown(query.get("breakdownFilter") or {}, context)
    is_limited = (query.get("breakdownFilter") or {}).get("breakdown_limit")
    if breakdown is None or is_limited or not _is_map(query):
        return breakdown
    return msgspec.structs.replace(breakdown, limit=_LIMIT_OF_MAPS)


def _is_map(query: Mapping[str, Any]) -> bool:
    return (query.get("trendsFilter") or {}).get("display") == "WorldMap"


def _breakdown(filter_: Mapping[str, Any], context: QueryContext) -> Breakdown | None:
    items = breakdown_items(filter_)
    if not items:
        return None
    check_items(items, several=bool(filter_.get("breakdowns")))
    many = bool(filter_.get("breakdowns")) or isinstance(filter_.get("breakdown"), list)
    is_cohorts = items[0].get("type") == "cohort"
    if is_cohorts:
        many, items = False, items[:1]
        names = filter_.get("breakdown") or [each["property"] for each in filter_["breakdowns"]]
        with located("breakdown" if filter_.get("breakdown") else "breakdowns"):
            parts = [cohorts_of(names if isinstance(names, list) else [names], context)]
    else:
        parts = [part_of(each.get("property"), each, context) for each in items]
    return Breakdown(
        parts=tuple(parts),
        many=many,
        limit=filter_.get("breakdown_limit") or DEFAULT_LIMIT,
        names=tuple(str(each.get("property")) for each in items),
        bins=tuple(bins_of(each) for each in items),
        hides_rest=bool(filter_.get("breakdown_hide_other_aggregation")),
        is_cohorts=is_cohorts,
        cohort_names={key: cohort.name for key, cohort in context.cohorts.items()} | _EVERYBODY
        if is_cohorts
        else {},
    )


def clean(values: Sequence[str]) -> list[str | None]:
    """Replace placeholders by the values that clients see."""
    return [None if value == NONE else OTHER if value == REST else value for value in values]


def is_rest(values: Sequence[str]) -> bool:
    """Whether values are the placeholders of values beyond the limit."""
    return bool(values) and values[0] == REST


def label(values: Sequence[str | None]) -> str:
    """A value in labels: parts joined by ``::``, missing ones as ``null``."""
    return "::".join("null" if value is None else value for value in values)


def has_rest(answers: Sequence[Rows]) -> bool:
    """Whether a row combines values beyond the limit."""
    return any(
        isinstance(cell, list | tuple) and is_rest(cell)
        for rows in answers
        for row in rows
        for cell in row
    )
