"""Breakdowns: by which values an insight is split, and what stands for none and for the rest.

Source: spec/query-endpoints.md sections 5.6 and 10.6.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.property_filters import property_condition
from hoglet.hogql.trees import Expression, array, call, compare, constant, field, fill, some
from hoglet.syntax import parse_expression

OTHER = "Other"
DEFAULT_LIMIT = 25
_MOST = 10_000
_MOST_BINS = 100

NONE = "$$_hoglet_none_$$"
"""Stands for NULL inside a query, where arrays of values are compared and grouped."""

REST = "$$_hoglet_other_$$"
"""Stands for all values beyond the limit, inside a query."""

_TOP = (
    "SELECT breakdown FROM (SELECT {key} AS breakdown, {size} AS size FROM events WHERE {where} "
    "GROUP BY breakdown) ORDER BY size DESC, breakdown LIMIT {limit}"
)
# Of two periods: the largest of the present one, then those that are in the one before it only.
_TOP_OF_BOTH = (
    "SELECT breakdown FROM (SELECT {key} AS breakdown, if({present}, 0, 1) AS period, "
    "{size} AS size FROM events WHERE {where} GROUP BY breakdown, period) GROUP BY breakdown "
    "ORDER BY min(period), tupleElement(argMin(tuple(size), period), 1) DESC, breakdown "
    "LIMIT {limit}"
)
# Edges of bins: equally many values in each, rounded to two places.
_EDGES = (
    "SELECT arrayDistinct(arrayMap(edge -> floor(edge, 2), quantiles({levels})({number}))) "
    "FROM events WHERE {where}"
)
_BIN = (
    "SELECT multiIf(isNull({number}), {none}, length({edges}) < 2, "
    "concat('[', toString(floor({number}, 2)), ',', toString(floor({number}, 2)), ']'), "
    "concat('[', toString(arrayElement({edges}, {place})), ',', "
    "toString(arrayElement({edges}, {place} + 1)), ']'))"
)
_PLACE = (
    "SELECT greatest(1, least(length({edges}) - 1, "
    "arrayLastIndex(edge -> edge <= ifNull({number}, 0), {edges})))"
)


class Breakdown(msgspec.Struct, frozen=True):
    """``parts`` are text expressions; ``many`` says whether values are answered as arrays.

    ``bins`` gives for each part the number of bins its numbers fall into, or None.
    """

    parts: tuple[Expression, ...]
    many: bool
    limit: int
    names: tuple[str, ...]
    bins: tuple[int | None, ...]
    hides_rest: bool = False
    is_cohorts: bool = False

    def key(self, where: Expression | None = None) -> Expression:
        """The values of an event, as one array; NULL reads as a stand-in.

        Args:
            where: the events that bins are made of; needed where there are bins.
        """
        return call(
            "array",
            *(
                call("ifNull", part, constant(NONE)) if bins is None else _bin(part, bins, where)
                for part, bins in zip(self.parts, self.bins, strict=True)
            ),
        )

    def limited(
        self, where: Expression, size: Expression, before: Expression | None = None
    ) -> tuple[Expression, Expression]:
        """The key with the rest lumped together, and the condition that keeps the others.

        Args:
            where: the events that are counted.
            size: the aggregate that the largest values are found by.
            before: those of an earlier period, whose own values come after all others.
        """
        key = self.key(where)
        if self.is_cohorts:  # as many as were named
            return key, constant(True)
        limit = constant(self.limit)
        if before is None:
            top = fill(_TOP, key=key, size=size, where=where, limit=limit)
        else:
            both = some([where, before])
            top = fill(_TOP_OF_BOTH, key=key, size=size, present=where, where=both, limit=limit)
        among = compare("in", key, top)
        return call("if", among, key, self.rest()), among

    def rest(self) -> Expression:
        """What the key of lumped values is."""
        return array([REST] * len(self.parts))

    def nothing(self) -> Expression:
        """The key of an event that has none of the properties."""
        return array([NONE] * len(self.parts))

    def shown(self, values: Sequence[str | None]) -> Any:
        """``breakdown_value`` of an answer: a list, or the one value."""
        return list(values) if self.many else values[0]


def breakdown_of(query: Mapping[str, Any], context: QueryContext) -> Breakdown | None:
    """The breakdown of an insight, or None.

    Raises:
        SourceError: a breakdown type that hoglet does not know.
    """
    filter_ = query.get("breakdownFilter") or {}
    items = breakdown_items(filter_)
    if not items:
        return None
    _check(items)
    many = bool(filter_.get("breakdowns")) or isinstance(filter_.get("breakdown"), list)
    parts = [_part(each.get("property"), each, context) for each in items]
    is_cohorts = items[0].get("type") == "cohort"
    if is_cohorts:
        many, items = False, items[:1]
        names = filter_.get("breakdown") or [each["property"] for each in filter_["breakdowns"]]
        parts = [_cohorts(names if isinstance(names, list) else [names], context)]
    return Breakdown(
        parts=tuple(parts),
        many=many,
        limit=max(1, min(int(filter_.get("breakdown_limit") or DEFAULT_LIMIT), _MOST)),
        names=tuple(str(each.get("property")) for each in items),
        bins=tuple(_bins(each) for each in items),
        hides_rest=bool(filter_.get("breakdown_hide_other_aggregation")),
        is_cohorts=is_cohorts,
    )


def breakdown_items(filter_: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Both ways of writing a breakdown as one: ``[{"property": "$browser", "type": "event"}]``.

    Args:
        filter_: a ``breakdownFilter`` with ``breakdowns``, or with ``breakdown`` and its type;
            what has neither form is refused when the query is compiled, and left out here.
    """
    several = filter_.get("breakdowns")
    if isinstance(several, list) and several:
        return [each for each in several if isinstance(each, Mapping)]
    value = filter_.get("breakdown")
    if value is None or value in ("", []):
        return []
    item = {
        "type": filter_.get("breakdown_type") or "event",
        "group_type_index": filter_.get("breakdown_group_type_index"),
        "normalize_url": filter_.get("breakdown_normalize_url"),
        "histogram_bin_count": filter_.get("breakdown_histogram_bin_count"),
    }
    values = value if isinstance(value, list) else [value]
    return [{"property": each, **item} for each in values]


def _check(items: Sequence[Mapping[str, Any]]) -> None:
    names = [item.get("property") for item in items]
    if not all(name and isinstance(name, str | int) and name is not True for name in names):
        raise refused("A breakdown needs the name of a property")
    kinds = {item.get("type") for item in items}
    if "cohort" in kinds and len(kinds) > 1:
        raise refused("A breakdown by cohorts stands alone")


def no_breakdown(query: Mapping[str, Any]) -> None:
    """Refuse a breakdown of a kind that has none.

    Raises:
        SourceError: there is one.
    """
    if breakdown_items(query.get("breakdownFilter") or {}):
        raise refused(f"{query.get('kind')} takes no breakdown")


def _bins(item: Mapping[str, Any]) -> int | None:
    count = item.get("histogram_bin_count")
    return None if count is None else max(1, min(int(count), _MOST_BINS))


def _bin(part: Expression, count: int, where: Expression | None) -> Expression:
    """The bin of a number as text, e.g. ``[0,10]``: both edges, the upper one is excluded."""
    number = call("toFloat", part)
    levels = tuple(constant(place / count) for place in range(count + 1))
    edges = fill(_EDGES, levels=levels, number=number, where=where or constant(True))
    place = fill(_PLACE, edges=edges, number=number).select[0]
    return fill(_BIN, number=number, edges=edges, place=place, none=constant(NONE)).select[0]


def _part(name: Any, item: Mapping[str, Any], context: QueryContext) -> Expression:
    kind = item.get("type") or "event"
    if kind == "hogql":
        return call("toString", parse_expression(str(name)))
    if kind == "cohort":
        return _cohorts([name], context)
    index = int(item.get("group_type_index") or 0)
    if index not in range(5):
        raise refused(f"Unknown group type index: {index}")
    chains: dict[str, tuple[str, ...]] = {
        "event": ("properties", str(name)),
        "person": ("person", "properties", str(name)),
        "session": ("session", str(name)),
        "event_metadata": (str(name),),
        "group": (f"group_{index}", "properties", str(name)),
    }
    if kind not in chains:
        raise refused(f"Unsupported breakdown type '{kind}'")
    text = call("toString", field(*chains[kind]))
    if item.get("normalize_url"):
        return call("replaceRegexpOne", text, constant(r"/(\?|#|$)"), constant(r"\1"))
    return text


def _cohorts(names: Sequence[Any], context: QueryContext) -> Expression:
    """The cohorts of an event's person, one row each; who is in none is left out."""
    inside = [_cohort(name, context) for name in names]
    return fill(
        "SELECT arrayJoin(arrayFilter(cohort -> cohort != '', {all}))", all=call("array", *inside)
    ).select[0]


def _cohort(name: Any, context: QueryContext) -> Expression:
    if str(name) == "all":
        return constant("all")
    rule = {"type": "cohort", "key": "id", "value": name}
    return call("if", property_condition(rule, context), constant(str(name)), constant(""))


def clean(values: Sequence[str]) -> list[str | None]:
    """Stand-ins replaced by what clients see."""
    return [None if value == NONE else OTHER if value == REST else value for value in values]


def is_rest(values: Sequence[str]) -> bool:
    """Whether these are the stand-ins of all values beyond the limit."""
    return bool(values) and values[0] == REST


def label(values: Sequence[str | None]) -> str:
    """How a value reads in labels: parts joined by ``::``, missing ones ``null``."""
    return "::".join("null" if value is None else value for value in values)
