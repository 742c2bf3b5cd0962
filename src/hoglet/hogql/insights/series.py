"""Series of insights: their events, measures and names.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results,
docs/spec/hog-functions.md#51-expression-and-bytecode (actions).
"""

from collections.abc import Mapping
from typing import Any

from hoglet.hogql.ast_builders import (
    Expression,
    call,
    compare,
    constant,
    every,
    field,
    some,
)
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import located, near, refused
from hoglet.hogql.filters.actions import action_condition
from hoglet.hogql.filters.properties import conditions
from hoglet.kit.errors import SourceError

type Node = Mapping[str, Any]

_KINDS = {None: "EventsNode", "events": "EventsNode", "actions": "ActionsNode"}
"""Entities of retention and exclusions can have a type instead of a kind."""
_GROUP = "GroupNode"
_TYPES = {"ActionsNode": "actions", _GROUP: "groups"}


def series_condition(node: Node, context: QueryContext) -> Expression:
    """The condition of a series: its event or action, and its properties.

    Raises:
        SourceError: an unknown action or kind of series.
    """
    keys = ("properties", "fixedProperties")
    filters = [part for key in keys for part in conditions(node.get(key) or [], context, attr=key)]
    return every([part for part in [_entity(node, context), *filters] if part is not None])


def without_properties(node: Node) -> Node:
    """The same events regardless of their properties."""
    bare = {**node, "properties": [], "fixedProperties": []}
    if node.get("kind") == _GROUP:
        bare["nodes"] = [without_properties(each) for each in node.get("nodes") or []]
    return bare


def _entity(node: Node, context: QueryContext) -> Expression | None:
    kind = node.get("kind") or _KINDS.get(node.get("type"), node.get("type"))
    if kind == "ActionsNode":
        return _action(node, context)
    if kind == _GROUP:
        return _any_of(node, context)
    if kind != "EventsNode":
        key = "kind" if node.get("kind") else "type"
        hint = near(str(kind), [known for known in _KINDS if known])
        raise refused(f"Unsupported series {key}: {kind}{hint and '.' + hint}", attr=key)
    event = node["event"] if "event" in node else node.get("id")
    return compare("==", field("event"), constant(str(event))) if event else None


def _any_of(node: Node, context: QueryContext) -> Expression:
    """The events of any member of a group of series."""
    members = node.get("nodes") or []
    if not members:
        raise refused("A GroupNode needs at least one event or action", attr="nodes")
    members_conditions: list[Expression] = []
    for index, member in enumerate(members):
        with located(f"nodes__{index}"):
            members_conditions.append(series_condition(member, context))
    return some(members_conditions)


def _action(node: Node, context: QueryContext) -> Expression:
    try:
        return action_condition(str(node.get("id")), context)
    except SourceError as error:
        error.attr = "id"
        raise


def common_conditions(query: Mapping[str, Any], context: QueryContext) -> list[Expression]:
    """The query's own properties and the project's test accounts."""
    common = list(conditions(query.get("properties") or [], context))
    if query.get("filterTestAccounts"):
        common += conditions(context.test_account_filters, context, attr="filterTestAccounts")
    return common


def entity_of(query: Mapping[str, Any]) -> Expression:
    """The actor of insights: the person, or the group of ``aggregation_group_type_index``.

    NULL for events without that group.
    """
    index = query.get("aggregation_group_type_index")
    return field("person_id") if index is None else group_key(index)


def group_key(index: Any) -> Expression:
    """The key of an event's group of that type, or NULL."""
    return call("nullIf", field(f"$group_{index}"), constant(""))


def entity_conditions(query: Mapping[str, Any]) -> list[Expression]:
    """Condition that an event has an actor: some events have no group."""
    if query.get("aggregation_group_type_index") is None:
        return []
    return [compare("!=", entity_of(query), constant(None))]


def born_of(query: Mapping[str, Any]) -> Expression:
    """When the actor of an event was created; the event's own time if unknown."""
    index = query.get("aggregation_group_type_index")
    chain = ("person",) if index is None else (f"group_{index}",)
    created = field(*chain, "created_at")
    known = compare(">", created, constant("1970-01-02 00:00:00"))
    return call("if", known, created, field("timestamp"))


def series_name(node: Node, context: QueryContext) -> str:
    """The name of a series in labels."""
    if node.get("kind") == "ActionsNode":
        action = context.actions.get(str(node.get("id"))) or {}
        return str(node.get("name") or action.get("name") or node.get("id"))
    if node.get("kind") == _GROUP:
        members = [series_name(each, context) for each in node.get("nodes") or []]
        return str(node.get("name") or ", ".join(members))
    event = node["event"] if "event" in node else node.get("id")
    return str(node.get("name") or event or "All events")


def action_object(node: Node, order: int, context: QueryContext) -> dict[str, Any]:
    """The ``action`` key of a result."""
    event = node["event"] if "event" in node else node.get("id")
    return {
        "id": node.get("id") if node.get("kind") == "ActionsNode" else event,
        "type": _TYPES.get(str(node.get("kind")), "events"),
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
