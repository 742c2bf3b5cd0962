"""Converts the legacy form of criteria, ``groups``.

``[{"properties": {"plan": "pro"}}, {"event_id": "$pageview", "days": 7, "count": 3}]`` selects
persons who match any of the groups.

Source: docs/spec/data-and-queries.md#32-record.
"""

from typing import Any

from hoglet.kit.errors import Invalid

type Json = dict[str, Any]

_KEYS = frozenset(
    {"properties", "event_id", "action_id", "days", "count", "count_operator", "label", "id"}
)
_MAX_GROUPS = 100


def criteria_of_groups(groups: Any) -> Json:
    """Equivalent ``filters``, validated like any other.

    Raises:
        Invalid: attr ``groups`` or a path below it.
    """
    if not isinstance(groups, list) or not groups or len(groups) > _MAX_GROUPS:
        raise Invalid("Expected a list of groups.", attr="groups")
    values = [_group(each, f"groups__{index}") for index, each in enumerate(groups)]
    return {"properties": {"type": "OR", "values": values}}


def _group(group: Any, path: str) -> Json:
    if not isinstance(group, dict):
        raise Invalid("A group is an object.", attr=path)
    for name in group:
        if name not in _KEYS:
            raise Invalid(f'"{name[:60]}" is not a known field.', attr=f"{path}__{name[:60]}")
    if group.get("properties") is not None:
        return {"type": "AND", "values": _properties(group["properties"], f"{path}__properties")}
    if group.get("event_id") is None and group.get("action_id") is None:
        raise Invalid("A group needs properties, an event_id or an action_id.", attr=path)
    return {"type": "AND", "values": [_behavior(group)]}


def _behavior(group: Json) -> Json:
    is_action = group.get("action_id") is not None
    criterion: Json = {
        "type": "behavioral",
        "value": "performed_event",
        "key": group["action_id"] if is_action else group["event_id"],
        "event_type": "actions" if is_action else "events",
        "time_value": group.get("days") or 30,
        "time_interval": "day",
    }
    if group.get("count") is not None:
        criterion |= {
            "value": "performed_event_multiple",
            "operator": group.get("count_operator") or "gte",
            "operator_value": group["count"],
        }
    return criterion


def _properties(properties: Any, path: str) -> list[Any]:
    """A list of filters, a map of values by key, or a group in the current form."""
    if isinstance(properties, dict) and isinstance(properties.get("values"), list):
        return [properties]
    if isinstance(properties, dict):
        return [_entry(key, value) for key, value in properties.items()]
    if isinstance(properties, list):
        return [
            {"type": "person"} | each if isinstance(each, dict) else each for each in properties
        ]
    raise Invalid("Expected a list of filters.", attr=path)


def _entry(name: str, value: Any) -> Json:
    key, _, operator = name.partition("__")
    return {"type": "person", "key": key, "value": value, "operator": operator or "exact"}
