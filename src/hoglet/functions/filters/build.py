"""Translates normalized filters to a Hog tree.

``AND(test accounts..., global properties..., OR(events..., actions...))``.

Source: docs/spec/hog-functions.md#51-expression-and-bytecode.
"""

from typing import Any

from hoglet.functions.errors import FilterRefused
from hoglet.functions.filters.context import FilterContext
from hoglet.functions.filters.nodes import all_of, any_of, compare, constant, field
from hoglet.functions.filters.properties import (
    element_matches,
    element_text,
    properties_to_trees,
)
from hoglet.functions.filters.roots import check_filter_tree
from hoglet.functions.json_types import ActionStep, FilterEntry, FunctionFilters, PropertyFilter
from hoglet.kit.json import array_at, is_object
from hoglet.syntax import tree

MAX_ENTRIES = 1000  # per filter; keeps compile time and bytecode small


def build_filter(filters: FunctionFilters, context: FilterContext) -> "tree.Expression":
    """The condition of a function.

    Args:
        filters: normalized by :func:`~hoglet.functions.filters.normalize.normalize_filters`.
        context: see :class:`FilterContext`.

    Raises:
        FilterRefused: the filter cannot be compiled; the message goes to ``bytecode_error``.
    """
    parts: list[tree.Expression] = []
    if filters.get("filter_test_accounts"):
        parts.extend(_test_accounts(context))
    parts.extend(properties_to_trees(filters.get("properties"), context))
    entries = _entries(filters, context)
    if entries:
        parts.append(any_of(entries))
    condition = all_of(parts)
    check_filter_tree(condition)
    return condition


def event_names(filters: FunctionFilters, context: FilterContext) -> list[str] | None:
    """The event names that can match at all, sorted; None for any.

    The function index relies on this, so no matching name may be missing.
    """
    names: set[str] = set()
    events, actions = array_at(filters, "events"), array_at(filters, "actions")
    if not events and not actions:
        return None
    for entry in events:
        if not entry.get("type") or entry.get("id") is None:
            return None
        names.add(str(entry["id"]))
    for entry in actions:
        steps = context.actions.get(str(entry.get("id")))
        triggers = None if steps is None else trigger_events(steps)
        if triggers is None:
            return None
        names |= triggers
    return sorted(names)


def _test_accounts(context: FilterContext) -> list["tree.Expression"]:
    trees: list[tree.Expression] = []
    for item in context.test_account_filters:
        if is_object(item) and "cohort" in str(item.get("type")):
            trees.append(_inlined_cohort(item, context))
        else:
            trees.extend(properties_to_trees([item], context))
    return trees


def _inlined_cohort(item: PropertyFilter, context: FilterContext) -> "tree.Expression":
    properties = context.cohorts.get(str(item.get("value")))
    if properties is None:
        raise FilterRefused(
            "The test account filters use a cohort that cannot be evaluated in real time. "
            "Use person property filters instead"
        )
    matches = all_of(properties_to_trees(properties, context))
    is_negative = item.get("operator") in ("not_in", "is_not") or item.get("negation")
    return tree.Not(expr=matches) if is_negative else matches


def _entries(filters: FunctionFilters, context: FilterContext) -> list["tree.Expression"]:
    events = array_at(filters, "events")
    actions = array_at(filters, "actions")
    tables = array_at(filters, "data_warehouse")
    if len(events) + len(actions) + len(tables) > MAX_ENTRIES:
        raise FilterRefused(f"A filter can have at most {MAX_ENTRIES} entries")
    return [
        *(_event(entry, context) for entry in events),
        *(_action(entry, context) for entry in actions),
        *(all_of(properties_to_trees(entry.get("properties"), context)) for entry in tables),
    ]


def _event(entry: FilterEntry, context: FilterContext) -> "tree.Expression":
    parts: list[tree.Expression] = []
    if entry.get("type"):
        name = entry.get("id")
        is_any = name is None
        parts.append(
            constant(True) if is_any else compare(field("event"), "==", constant(str(name)))
        )
    parts.extend(properties_to_trees(entry.get("properties"), context))
    return all_of(parts)


def _action(entry: FilterEntry, context: FilterContext) -> "tree.Expression":
    steps = context.actions.get(str(entry.get("id")))
    if steps is None:
        raise FilterRefused(f"The action {entry.get('id')} does not exist")
    own = properties_to_trees(entry.get("properties"), context)
    return all_of([action_to_tree(steps, context), *own])


AUTOCAPTURE = "$autocapture"


def action_to_tree(steps: list[ActionStep], context: FilterContext) -> "tree.Expression":
    """The condition of an action.

    Args:
        steps: ``[{"event": "$pageview", "url": "docs", "url_matching": "contains"}]``.
        context: see :class:`FilterContext`.

    Raises:
        FilterRefused: a step cannot be compiled.
    """
    return any_of([_step(step, context) for step in steps])


def trigger_events(steps: list[ActionStep]) -> set[str] | None:
    """The event names that can match, or None for any."""
    names = {step.get("event") for step in steps}
    if not names or not all(names):
        return None
    return {str(name) for name in names}


def _step(step: ActionStep, context: FilterContext) -> "tree.Expression":
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


def _element_rules(step: ActionStep) -> list["tree.Expression"]:
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
