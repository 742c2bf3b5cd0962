"""Property filters as HogQL conditions: ``{key, value, operator, type}`` to a tree.

In SQL meaning: a missing property is NULL, so ``exact`` does not match it and ``is_not`` does.

Source: docs/spec/hog-functions.md#52-property-filter-key-value-operator-type-group_type_index.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hoglet.hogql.client_schemas import PROPERTIES, check_shape
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import near, refused
from hoglet.hogql.filters.operators import Hint, operator_condition
from hoglet.hogql.frontend.preprocess import read_expression
from hoglet.hogql.frontend.trees import (
    TRUE,
    call,
    compare,
    constant,
    every,
    field,
    negated,
    some,
)
from hoglet.syntax import tree

type Condition = tree.Expression
type Prefix = tuple[str, ...]


def property_condition(  # noqa: PLR0911 (one return a kind)
    item: Mapping[str, Any], context: QueryContext, prefix: Prefix = ()
) -> Condition:
    """The condition of one property filter, or of a group ``{type: "AND"|"OR", values: [...]}``.

    Args:
        item: the filter as clients send it.
        context: the project.
        prefix: alias of the events table where the query joins several, e.g. ``("e",)``.

    Raises:
        SourceError: an operator, type or value that hoglet does not know.
    """
    if isinstance(item.get("values"), list) and not item.get("key"):
        return _group(item, context, prefix)
    kind = item.get("type") or "event"
    if kind == "hogql":
        return read_expression(str(item.get("key") or "1"))
    if kind in _COHORTS:
        return _cohort(item, context, prefix)
    if not item.get("key"):
        return TRUE
    if kind == "element":
        return _element(item, context, prefix)
    value, operator = item.get("value"), item.get("operator") or "exact"
    if value is None and operator not in {"is_set", "is_not_set"}:
        return TRUE
    return operator_condition(_target(item, kind, prefix), operator, value, Hint(item, context))


def _group(item: Mapping[str, Any], context: QueryContext, prefix: Prefix) -> Condition:
    kind = item.get("type")
    if kind not in {"AND", "OR"}:
        raise refused(f"A group of property filters is of type AND or OR, not {kind}")
    inner = [property_condition(each or {}, context, prefix) for each in item["values"]]
    return every(inner) if kind == "AND" or not inner else some(inner)


def conditions(
    items: Sequence[Mapping[str, Any]], context: QueryContext, prefix: Prefix = ()
) -> list[Condition]:
    """The conditions of a list of filters; all of them must hold."""
    check_shape(items, PROPERTIES, "properties")
    if isinstance(items, Mapping):
        return [property_condition(items, context, prefix)]
    return [property_condition(item or {}, context, prefix) for item in items]


def _target(  # noqa: PLR0911 (one return a kind)
    item: Mapping[str, Any], kind: str, prefix: Prefix
) -> Condition:
    key = str(item["key"])
    if kind in {"event", "feature"}:
        if key == "$elements_chain":
            return field(*prefix, "elements_chain")
        return field(*prefix, "properties", key)
    if kind == "person":
        if key == "distinct_id":
            return field(*prefix, "distinct_id")
        return field(*prefix, "person", "properties", key)
    if kind == "group":
        index = item.get("group_type_index") or 0
        if index not in range(5):
            raise refused(f"Unknown group type index: {index}")
        return field(*prefix, f"group_{index}", "properties", key)
    if kind == "session":
        return field(*prefix, "session", key)
    if kind == "event_metadata":
        return field(*prefix, key)
    raise refused(f"Property filters of type '{kind}' are not supported")


_COHORTS = frozenset({"cohort", "static-cohort", "dynamic-cohort", "precalculated-cohort"})
_COHORT_OPERATORS = {None: False, "in": False, "exact": False, "not_in": True, "is_not": True}


def _cohort(item: Mapping[str, Any], context: QueryContext, prefix: Prefix) -> Condition:
    value, operator = item.get("value"), item.get("operator")
    try:
        cohort = int(str(value))
    except ValueError:
        raise refused(f"Not a cohort id: {value}") from None
    if str(cohort) not in context.cohorts:
        raise refused(f"Cohort {cohort} does not exist.{near(str(cohort), context.cohorts)}")
    if operator not in _COHORT_OPERATORS:
        raise refused(f"Cohorts are filtered with 'in' and 'not_in', not '{operator}'")
    negative = _COHORT_OPERATORS[operator] or item.get("negation")
    comparison = "not in cohort" if negative else "in cohort"
    return compare(comparison, field(*prefix, "person_id"), constant(cohort))


_ELEMENTS = {"text": "elements_chain_texts", "tag_name": "elements_chain_elements"}


def _element(item: Mapping[str, Any], context: QueryContext, prefix: Prefix) -> Condition:
    key, operator = str(item["key"]), item.get("operator") or "exact"
    value = item.get("value")
    if key == "href":
        target = field(*prefix, "elements_chain_href")
        return operator_condition(target, operator, value, Hint(item, context))
    values = value if isinstance(value, list) else [value]
    if key == "selector":
        found = [_selector(str(each), prefix) for each in values]
    elif key in _ELEMENTS:
        column = field(*prefix, _ELEMENTS[key])
        if operator in {"icontains", "not_icontains", "regex", "not_regex"}:
            column = call("arrayStringConcat", column, constant("\n"))
            return operator_condition(column, operator, value, Hint(item, context))
        found = [call("has", column, constant(str(each))) for each in values]
    else:
        raise refused(f"Unknown element property '{key}'")
    return negated(some(found)) if operator in {"is_not", "not_in"} else some(found)


def _selector(selector: str, prefix: Prefix) -> Condition:
    """A simple CSS selector (``tag.class#id``, descendants by spaces) over ``elements_chain``."""
    steps: list[str] = []
    for step in reversed(selector.replace(">", " ").split()):
        text = step.replace("#", "\x00#").replace(".", "\x00.")
        tag, *marks = text.split("\x00")
        parts = [_escape(tag)] if tag not in {"", "*"} else ["[^;]*?"]
        for mark in marks:
            name = _escape(mark[1:])
            parts.append(f'[^;]*?attr_id="{name}"' if mark[0] == "#" else f"[^;]*?\\.{name}")
        steps.append("(^|;)" + "".join(parts) + "([^a-zA-Z0-9_-]|$)")
    pattern = ".*".join(steps)
    return call("match", field(*prefix, "elements_chain"), constant(pattern))


def _escape(text: str) -> str:
    return "".join(char if char.isalnum() or char in "_-" else f"\\{char}" for char in text)
