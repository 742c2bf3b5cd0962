"""Actions (saved conditions on events) as HogQL conditions.

Source: docs/spec/hog-functions.md#51-expression-and-bytecode.
"""

from collections.abc import Mapping
from typing import Any

from hoglet.hogql.ast_builders import (
    Expression,
    compare,
    constant,
    every,
    field,
    some,
)
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import near, refused
from hoglet.hogql.filters.properties import conditions, property_condition


def action_condition(wanted: str, context: QueryContext) -> Expression:
    """The condition of an action; ``wanted`` is its id or name.

    Raises:
        SourceError: no such action.
    """
    action = context.actions.get(wanted)
    if action is None:
        named = {str(each.get("name")): each for each in context.actions.values()}
        action = named.get(wanted)
        if action is None:
            raise refused(f"Action {wanted} does not exist.{near(wanted, named)}")
    return some([step_condition(step, context) for step in action.get("steps") or []])


def step_condition(step: Mapping[str, Any], context: QueryContext) -> Expression:
    """The condition of a step: all its parts must hold."""
    parts: list[Expression] = []
    if step.get("event"):
        parts.append(compare("==", field("event"), constant(str(step["event"]))))
    if step.get("url"):
        operator = {"exact": "exact", "regex": "regex"}.get(
            str(step.get("url_matching")), "icontains"
        )
        rule = {"key": "$current_url", "value": step["url"], "operator": operator}
        parts.append(property_condition(rule, context))
    for key in ("selector", "tag_name", "text", "href"):
        if step.get(key):
            rule = {"key": key, "value": step[key], "operator": "exact", "type": "element"}
            parts.append(property_condition(rule, context))
    return every([*parts, *conditions(step.get("properties") or [], context)])
