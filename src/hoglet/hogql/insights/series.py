"""Series of insights: which events they mean, how they are counted and named.

Source: spec/query-endpoints.md section 10.6, spec/hog-functions.md section 5.1 (actions).
"""

from collections.abc import Mapping
from typing import Any

from hoglet.hogql.actions import action_condition
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.property_filters import conditions
from hoglet.hogql.trees import Expression, call, compare, constant, every, field
from hoglet.syntax import parse_expression, tree

type Node = Mapping[str, Any]


def series_condition(node: Node, context: QueryContext) -> Expression:
    """Which events a series means: its event or action, and its own properties.

    Raises:
        SourceError: an unknown action or kind of series.
    """
    parts = [_entity(node, context), *conditions(node.get("properties") or [], context)]
    return every([part for part in parts if part is not None])


def _entity(node: Node, context: QueryContext) -> Expression | None:
    kind = node.get("kind") or ("ActionsNode" if node.get("type") == "actions" else "EventsNode")
    if kind == "ActionsNode":
        return _action(node, context)
    if kind != "EventsNode":
        raise refused(f"Unsupported series kind: {kind}")
    event = node["event"] if "event" in node else node.get("id")
    return compare("==", field("event"), constant(str(event))) if event else None


def _action(node: Node, context: QueryContext) -> Expression:
    return action_condition(str(node.get("id")), context)


def common_conditions(query: Mapping[str, Any], context: QueryContext) -> list[Expression]:
    """The query's own properties and the project's test accounts."""
    found = list(conditions(query.get("properties") or [], context))
    if query.get("filterTestAccounts"):
        found += conditions(context.test_account_filters, context)
    return found


def entity_of(query: Mapping[str, Any]) -> tree.Field:
    """Whom insights count: the person, or the group of ``aggregation_group_type_index``."""
    index = query.get("aggregation_group_type_index")
    if index is None:
        return field("person_id")
    if index not in range(5):
        raise refused(f"Unknown group type index: {index}")
    return field(f"$group_{index}")


_PROPERTY_MATH = {
    "sum": ("sum", None),
    "avg": ("avg", None),
    "min": ("min", None),
    "max": ("max", None),
    "median": ("quantile", 0.5),
    "p75": ("quantile", 0.75),
    "p90": ("quantile", 0.9),
    "p95": ("quantile", 0.95),
    "p99": ("quantile", 0.99),
}

ACTIVE_DAYS = {"weekly_active": 7, "monthly_active": 30}
"""Math over a window that ends at each interval, in days."""


def math_expression(node: Node, query: Mapping[str, Any]) -> Expression:
    """What is computed for each interval of a series, e.g. ``count()``.

    Raises:
        SourceError: an unknown math, or one that needs a property and has none.
    """
    math = node.get("math") or "total"
    if math == "total":
        return call("count")
    if math in {"dau", *ACTIVE_DAYS}:
        return tree.Call(name="count", args=(entity_of(query),), distinct=True)
    if math == "unique_session":
        return tree.Call(name="count", args=(field("$session_id"),), distinct=True)
    if math == "unique_group":
        index = int(node.get("math_group_type_index") or 0)
        return tree.Call(name="count", args=(field(f"$group_{index}"),), distinct=True)
    if math == "hogql":
        return parse_expression(str(node.get("math_hogql") or "count()"))
    if math in _PROPERTY_MATH:
        return _property_math(math, node)
    raise refused(f"Unsupported math '{math}'")


def _property_math(math: str, node: Node) -> Expression:
    name = node.get("math_property")
    if not name:
        raise refused(f"Math '{math}' needs math_property")
    function, level = _PROPERTY_MATH[math]
    chain = (
        ("session", "$session_duration") if name == "$session_duration" else ("properties", name)
    )
    if node.get("math_property_type") == "person_properties":
        chain = ("person", "properties", name)
    params = [constant(level)] if level is not None else None
    return call(function, call("toFloat", field(*chain)), params=params)


def series_name(node: Node, context: QueryContext) -> str:
    """What a series is called in labels."""
    if node.get("kind") == "ActionsNode":
        action = context.actions.get(str(node.get("id"))) or {}
        return str(node.get("name") or action.get("name") or node.get("id"))
    event = node["event"] if "event" in node else node.get("id")
    return str(node.get("name") or event or "All events")


def action_object(node: Node, order: int, context: QueryContext) -> dict[str, Any]:
    """The ``action`` key of a result."""
    is_action = node.get("kind") == "ActionsNode"
    event = node["event"] if "event" in node else node.get("id")
    return {
        "id": node.get("id") if is_action else event,
        "type": "actions" if is_action else "events",
        "order": order,
        "name": series_name(node, context),
        "custom_name": node.get("custom_name"),
        "math": node.get("math") or "total",
        "math_property": node.get("math_property"),
        "math_hogql": node.get("math_hogql"),
        "math_group_type_index": node.get("math_group_type_index"),
        "properties": node.get("properties") or {},
        "days": [],
    }
