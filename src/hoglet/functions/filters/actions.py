"""Translates an action to a Hog tree: OR over its steps.

Source: docs/spec/hog-functions.md#51-expression-and-bytecode.
"""

from typing import Any

from hoglet.functions.filters.context import FilterContext
from hoglet.functions.filters.nodes import all_of, any_of, compare, constant, field
from hoglet.functions.filters.properties import (
    element_matches,
    element_text,
    properties_to_trees,
)
from hoglet.syntax import tree

AUTOCAPTURE = "$autocapture"


def action_to_tree(steps: list[dict[str, Any]], context: FilterContext) -> "tree.Expression":
    """The condition of an action.

    Args:
        steps: ``[{"event": "$pageview", "url": "docs", "url_matching": "contains"}]``.
        context: see :class:`FilterContext`.

    Raises:
        FilterRefused: a step cannot be compiled.
    """
    return any_of([_step(step, context) for step in steps])


def trigger_events(steps: list[dict[str, Any]]) -> set[str] | None:
    """The event names that can match, or None for any."""
    names = {step.get("event") for step in steps}
    if not names or not all(names):
        return None
    return {str(name) for name in names}


def _step(step: dict[str, Any], context: FilterContext) -> "tree.Expression":
    parts: list[tree.Expression] = []
    event = step.get("event")
    if event:
        parts.append(compare(field("event"), "==", constant(event)))
    if event == AUTOCAPTURE:
        parts.extend(_element_rules(step))
    if step.get("url"):
        subject = field("properties", "$current_url")
        parts.append(_text_rule(subject, step["url"], step.get("url_matching") or "contains"))
    parts.extend(properties_to_trees(step.get("properties"), context))
    return all_of(parts)


def _element_rules(step: dict[str, Any]) -> list["tree.Expression"]:
    rules = [
        element_matches(key, str(step[key])) for key in ("selector", "tag_name") if step.get(key)
    ]
    if step.get("href"):
        matching = step.get("href_matching") or "exact"
        rules.append(_text_rule(field("elements_chain_href"), step["href"], matching))
    if step.get("text"):
        matching = step.get("text_matching") or "exact"
        rules.append(element_text(_text_rule(field("text"), step["text"], matching)))
    return rules


def _text_rule(subject: "tree.Expression", value: Any, matching: str) -> "tree.Expression":
    if matching == "contains":
        return compare(subject, "like", constant(f"%{value}%"))
    if matching == "regex":
        return compare(subject, "=~", constant(str(value)))
    return compare(subject, "==", constant(value))
