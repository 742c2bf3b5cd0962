"""Actions (saved conditions on events) as HogQL conditions.

Source: docs/spec/hog-functions.md#51-expression-and-bytecode.
"""

from collections.abc import Mapping
from typing import Any

from hoglet.hogql.ast_builders import (
    TRUE,
    Expression,
    call,
    compare,
    constant,
    every,
    field,
    some,
)
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import near, refused
from hoglet.hogql.filters.properties import conditions, element_matches
from hoglet.syntax import tree

AUTOCAPTURE = "$autocapture"


def action_condition(id_or_name: str, context: QueryContext) -> Expression:
    """The condition of an action; ``id_or_name`` is its id or name.

    Raises:
        SourceError: no such action.
    """
    action = context.actions.get(id_or_name)
    if action is None:
        named = {str(each.get("name")): each for each in context.actions.values()}
        action = named.get(id_or_name)
        if action is None:
            raise refused(f"Action {id_or_name} does not exist.{near(id_or_name, named)}")
    steps = action.get("steps") or []
    return some([step_condition(step, context) for step in steps]) if steps else TRUE


def step_condition(step: Mapping[str, Any], context: QueryContext) -> Expression:
    """The condition of a step: all its parts must hold. Only autocaptured events have elements."""
    parts: list[Expression] = []
    if step.get("event"):
        parts.append(compare("==", field("event"), constant(str(step["event"]))))
    if step.get("event") == AUTOCAPTURE:
        parts += _element_conditions(step)
    if step.get("url"):
        url = call("toString", field("properties", "$current_url"))
        parts.append(_text_condition(url, str(step["url"]), step.get("url_matching")))
    return every([*parts, *conditions(step.get("properties") or [], context)])


def _element_conditions(step: Mapping[str, Any]) -> list[Expression]:
    conditions = [
        element_matches(key, str(step[key])) for key in ("selector", "tag_name") if step.get(key)
    ]
    if step.get("href"):
        href = field("elements_chain_href")
        matching = step.get("href_matching") or "exact"
        conditions.append(_text_condition(href, str(step["href"]), matching))
    if step.get("text"):
        matching = step.get("text_matching") or "exact"
        test = _text_condition(field("text"), str(step["text"]), matching)
        test = tree.Lambda(args=("text",), expr=test)
        conditions.append(call("arrayExists", test, field("elements_chain_texts")))
    return conditions


def _text_condition(target: Expression, value: str, matching: str | None) -> Expression:
    """``exact``, ``regex``, or ``contains`` with the wildcards of LIKE, like function filters."""
    if matching == "exact":
        return compare("==", target, constant(value))
    if matching == "regex":
        return compare("=~", target, constant(value))
    return compare("like", target, constant(f"%{value}%"))
