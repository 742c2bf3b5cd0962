"""The measures of series: their ``math``.

Most are one aggregate over events. Some first compute a number per session or actor, which is then
aggregated (``Measure.unit``).

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from hoglet.hogql.ast_builders import Expression, call, compare, constant, field
from hoglet.hogql.errors import near, refused
from hoglet.hogql.frontend.preprocess import read_expression
from hoglet.hogql.insights.series import (
    Node,
    entity_conditions,
    entity_of,
    group_key,
)
from hoglet.syntax import tree

# Quantiles are exact, with linear interpolation.
_AGGREGATES = {
    "sum": ("sum", None),
    "avg": ("avg", None),
    "min": ("min", None),
    "max": ("max", None),
    "median": ("quantileExactInclusive", 0.5),
    "p75": ("quantileExactInclusive", 0.75),
    "p90": ("quantileExactInclusive", 0.9),
    "p95": ("quantileExactInclusive", 0.95),
    "p99": ("quantileExactInclusive", 0.99),
}
_PER_ACTOR = "_count_per_actor"

ACTIVE_DAYS = {"weekly_active": 7, "monthly_active": 30}
"""Measures over a window that ends with each interval, in days."""

FIRST_TIME = frozenset({"first_time_for_user", "first_matching_event_for_user"})
"""Measures that count actors once, in the interval of their first event."""

_SCALED = frozenset(
    {"total", "dau", "sum", "unique_session", "unique_group", *ACTIVE_DAYS, *FIRST_TIME}
)


class Measure(msgspec.Struct, frozen=True):
    """``value`` aggregates events; with ``unit``, it aggregates ``inner`` of each unit, named x."""

    value: Expression
    unit: Expression | None = None
    inner: Expression | None = None


def measure_of(  # noqa: PLR0911 (one return a kind)
    node: Node, query: Mapping[str, Any]
) -> Measure:
    """The measure of a series.

    Raises:
        SourceError: an unknown math, or a missing property.
    """
    math = str(node.get("math") or "total")
    if node.get("math_multiplier") is not None and math not in _AGGREGATES:
        raise refused("math_multiplier requires math over a property", attr="math_multiplier")
    if math == "total":
        return Measure(call("count"))
    if math in {"dau", *ACTIVE_DAYS, *FIRST_TIME}:
        return Measure(_distinct(entity_of(query)))
    if math == "unique_session":
        return Measure(_distinct(call("nullIf", field("$session_id"), constant(""))))
    if math == "unique_group":
        return Measure(_distinct(group_key(group_of(node))))
    if math == "hogql":
        return Measure(read_expression(str(node["math_hogql"]), "math_hogql"))
    if math.endswith(_PER_ACTOR) and math.removesuffix(_PER_ACTOR) in _AGGREGATES:
        value = _aggregate(math.removesuffix(_PER_ACTOR), field("x"))
        return Measure(value, entity_of(query), call("count"))
    if math in _AGGREGATES:
        return _property_measure(math, node)
    known = ("total", "dau", *ACTIVE_DAYS, *FIRST_TIME, "unique_session", "unique_group", "hogql")
    hint = near(math, (*known, *_AGGREGATES)) or f" Use one of {', '.join((*known, *_AGGREGATES))}."
    raise refused(f"Unsupported math '{math}'.{hint}", attr="math")


def countable(node: Node, query: Mapping[str, Any]) -> list[Expression]:
    """Condition that an event is counted: some events have no group."""
    math = node.get("math")
    if math == "unique_group":
        return [compare("!=", group_key(group_of(node)), constant(None))]
    counts_actors = math == "dau" or math in ACTIVE_DAYS or math in FIRST_TIME
    return entity_conditions(query) if counts_actors else []


def scales(node: Node) -> bool:
    """Whether the number grows with the sample: counts and sums do, averages do not."""
    return (node.get("math") or "total") in _SCALED


def is_whole(node: Node) -> bool:
    """Whether the measure is a count, so that its numbers are integers."""
    return scales(node) and node.get("math") != "sum"


def _distinct(expr: Expression) -> Expression:
    return tree.Call(name="count", args=(expr,), distinct=True)


def _aggregate(math: str, expr: Expression) -> Expression:
    function, level = _AGGREGATES[math]
    return call(function, expr, params=[constant(level)] if level is not None else None)


def _property_measure(math: str, node: Node) -> Measure:
    name = node.get("math_property")
    if not name:
        raise refused(f"Math '{math}' needs math_property", attr="math_property")
    kind = node.get("math_property_type")
    if kind == "session_properties" or (kind != "person_properties" and name == _DURATION):
        # A session counts once, not once per event.
        inner = call("any", _number(field("session", str(name)), node))
        return Measure(_aggregate(math, field("x")), field("$session_id"), inner)
    return Measure(_aggregate(math, _number(field(*_chain(kind, str(name), node)), node)))


_DURATION = "$session_duration"
_EVENT_PROPERTIES = (None, "event_properties", "numerical_event_properties")
_GROUP_PROPERTIES = ("group_properties", "group")
_GROUPS = tuple(f"groups_{index}" for index in range(5))
"""PostHog's names for properties of each group type."""


def _chain(kind: Any, name: str, node: Node) -> tuple[str, ...]:
    if kind in _EVENT_PROPERTIES:
        return "properties", name
    if kind == "person_properties":
        return "person", "properties", name
    if kind in _GROUP_PROPERTIES:
        return f"group_{group_of(node)}", "properties", name
    if kind in _GROUPS:
        return f"group_{_GROUPS.index(kind)}", "properties", name
    known = (*_EVENT_PROPERTIES[1:], "person_properties", "session_properties", *_GROUP_PROPERTIES)
    hint = near(str(kind), known) or f" Use one of {', '.join(known)}."
    raise refused(f"Unsupported math_property_type '{kind}'.{hint}", attr="math_property_type")


def _number(expr: Expression, node: Node) -> Expression:
    number, factor = call("toFloat", expr), node.get("math_multiplier")
    return number if factor is None else call("multiply", number, constant(factor))


def group_of(node: Node) -> int:
    """The group type that a series counts.

    Raises:
        SourceError: it is missing.
    """
    index = node.get("math_group_type_index")
    if index is None:
        text = "Math over groups needs math_group_type_index, the number of the group type"
        raise refused(text, attr="math_group_type_index")
    return int(index)


# --- keys of a series that belong to some maths only


def check_math(node: Node, kind: str) -> None:
    """Reject math that the insight does not compute, and keys that its math does not read.

    Args:
        node: a series, entity or exclusion.
        kind: of the insight, ``FunnelsQuery``.

    Raises:
        SourceError: ``attr`` is the key.
    """
    math = node.get("math")
    if kind not in _WITH_MATH and math not in _OF_ACTORS:
        known = ", ".join(each for each in _OF_ACTORS if each)
        text = f"Math '{math}' has no effect in {kind}. Use one of {known}, or none."
        raise refused(text, attr="math")
    if kind == "FunnelsQuery" and math not in {*_OF_ACTORS, *FIRST_TIME, _FIRST_WITH_FILTERS}:
        known = ", ".join(("total", "dau", *sorted(FIRST_TIME), _FIRST_WITH_FILTERS))
        raise refused(f"Math '{math}' has no effect in funnels. Use one of {known}.", attr="math")
    if math == "hogql" and not str(node.get("math_hogql") or "").strip():
        raise refused("Math 'hogql' needs an expression in math_hogql", attr="math_hogql")
    if node.get("math_hogql") and math != "hogql":
        raise refused("math_hogql has no effect without math 'hogql'", attr="math_hogql")
    if node.get("math_property") and not math:
        text = f"math_property has no effect without math. Use one of {', '.join(_AGGREGATES)}."
        raise refused(text, attr="math")
    if node.get("math_property_revenue_currency"):
        key = "math_property_revenue_currency"
        raise refused(f"{key} is not supported: currencies are not converted", attr=key)


_OF_ACTORS = (None, "", "total", "dau")
_FIRST_WITH_FILTERS = "first_time_for_user_with_filters"
_WITH_MATH = frozenset({"TrendsQuery", "StickinessQuery", "FunnelsQuery"})
