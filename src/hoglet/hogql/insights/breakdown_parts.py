"""The dimensions of breakdowns: their definition, and the value of an event.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results (breakdownFilter).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hoglet.hogql.ast_builders import Expression, call, constant, field, fill
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.filters.properties import group_property, property_condition
from hoglet.hogql.frontend.preprocess import read_expression
from hoglet.hogql.insights.breakdown_items import breakdown_items
from hoglet.kit.errors import SourceError

NONE = "$$_hoglet_none_$$"
"""Stands for NULL inside a query, where arrays of values are compared and grouped."""

_LAST_SLASH = r"(.)/(\?|#|$)"
"""Trailing slash of a path; the root path keeps it."""

# Bin edges (equally many values per bin), rounded to two places.
_EDGES = (
    "SELECT arrayDistinct(arrayMap(edge -> floor(edge, 2), quantiles({levels})({number}))) "
    "FROM events WHERE {where}"
)
_BIN = (
    "SELECT multiIf(isNull({number}), {none}, length({edges}) < 2, "
    "concat('[', toString(floor({number}, 2)), ',', toString(floor({number}, 2)), ']'), "
    "concat('[', toString(arrayElement({edges}, {index})), ',', "
    "toString(arrayElement({edges}, {index} + 1)), ']'))"
)
_INDEX = (
    "SELECT greatest(1, least(length({edges}) - 1, "
    "arrayLastIndex(edge -> edge <= ifNull({number}, 0), {edges})))"
)


def check_items(items: Sequence[Mapping[str, Any]], *, several: bool) -> None:
    """Reject breakdowns without a name or group type, and cohorts combined with others.

    ``several`` means that they come from ``breakdowns``, to which error paths then point.

    Raises:
        SourceError: the query has such a breakdown.
    """
    for index, item in enumerate(items):
        name = item.get("property")
        if not name or not isinstance(name, str | int) or name is True:
            attr = f"breakdowns__{index}__property" if several else "breakdown"
            raise refused("A breakdown needs the name of a property", attr=attr)
        if item.get("type") == "group" and item.get("group_type_index") is None:
            key = f"breakdowns__{index}__" if several else "breakdown_"
            text = f"The breakdown by '{name}' needs the number of its group type"
            raise refused(text, attr=f"{key}group_type_index")
    kinds = {item.get("type") for item in items}
    if "cohort" in kinds and len(kinds) > 1:
        raise refused("A breakdown by cohorts cannot be combined with others")


def no_breakdown(query: Mapping[str, Any]) -> None:
    """Reject breakdowns of insights that do not support them.

    Raises:
        SourceError: the query has such a breakdown.
    """
    if breakdown_items(query.get("breakdownFilter") or {}):
        raise refused(f"{query.get('kind')} does not support breakdowns", attr="breakdownFilter")


def bins_of(item: Mapping[str, Any]) -> int | None:
    """The number of bins, or None."""
    return item.get("histogram_bin_count")


def bin_of(part: Expression, count: int, where: Expression | None) -> Expression:
    """The bin of a number as a string, e.g. ``[0,10]``; the upper edge is exclusive."""
    number = call("toFloat", part)
    levels = tuple(constant(edge / count) for edge in range(count + 1))
    edges = fill(_EDGES, levels=levels, number=number, where=where or constant(True))
    index = fill(_INDEX, edges=edges, number=number).select[0]
    return fill(_BIN, number=number, edges=edges, index=index, none=constant(NONE)).select[0]


def part_of(name: Any, item: Mapping[str, Any], context: QueryContext) -> Expression:
    """The value of an event, as a string.

    Raises:
        SourceError: an unknown type of breakdown.
    """
    kind = item.get("type") or "event"
    if kind == "cohort":
        return cohorts_of([name], context)
    value = read_expression(str(name)) if kind == "hogql" else _field(kind, str(name), item)
    text = call("toString", value)
    if item.get("normalize_url"):
        return call("replaceRegexpOne", text, constant(_LAST_SLASH), constant(r"\1\2"))
    return text


def _field(kind: str, name: str, item: Mapping[str, Any]) -> Expression:
    if kind == "group":
        return group_property(item["group_type_index"], name)
    chains: dict[str, tuple[str, ...]] = {
        "event": ("properties", name),
        "person": ("person", "properties", name),
        "session": ("session", name),
        "event_metadata": (name,),
    }
    if kind not in chains:
        raise refused(f"Unsupported breakdown type '{kind}'")
    return field(*chains[kind])


def cohorts_of(names: Sequence[Any], context: QueryContext) -> Expression:
    """The cohorts of an event's person, one row each; persons in none are omitted."""
    inside = [_cohort(name, context) for name in names]
    return fill(
        "SELECT arrayJoin(arrayFilter(cohort -> cohort != '', {all}))", all=call("array", *inside)
    ).select[0]


def _cohort(name: Any, context: QueryContext) -> Expression:
    if str(name) == "all":
        return constant("all")
    rule = {"type": "cohort", "key": "id", "value": name}
    try:
        is_member = property_condition(rule, context)
    except SourceError as error:
        error.attr = None  # the filter is generated, not part of the query
        raise
    return call("if", is_member, constant(str(name)), constant(""))
