"""Translates a property filter ``{key, value, operator, type}`` to a Hog tree.

Source: docs/spec/hog-functions.md#52-property-filter-key-value-operator-type-group_type_index.
"""

from typing import Any

from hoglet.functions.errors import FilterRefused
from hoglet.functions.filters.context import FilterContext
from hoglet.functions.filters.nodes import (
    all_of,
    any_of,
    call,
    compare,
    constant,
    field,
)
from hoglet.functions.filters.operators import apply_operator
from hoglet.functions.json_types import PropertyFilter
from hoglet.kit.element_selectors import BadSelector, selector_pattern, tag_name_pattern
from hoglet.kit.errors import SourceError
from hoglet.kit.json import array_at, is_array, is_object
from hoglet.kit.property_operators import WITHOUT_VALUE
from hoglet.kit.property_types import COHORT_TYPES, FUNCTION_TYPES
from hoglet.kit.suggestions import near
from hoglet.syntax import tree
from hoglet.syntax.parse import parse_expression

MAX_NESTING = 10
_BOOLEAN_TEXTS = {"true": True, "false": False}


def properties_to_trees(properties: Any, context: FilterContext) -> list["tree.Expression"]:
    """One tree per property filter.

    Args:
        properties: a list of property filters, or a group ``{"type": "OR", "values": [...]}``.
        context: see :class:`FilterContext`.

    Raises:
        FilterRefused: a property cannot be compiled.
    """
    if not properties:
        return []
    if is_object(properties):
        return [_group(properties, context, depth=0)]
    if not is_array(properties):
        raise FilterRefused("The properties of a filter must be a list")
    return [property_to_tree(item, context) for item in properties]


def property_to_tree(item: Any, context: FilterContext, *, depth: int = 0) -> "tree.Expression":
    """One property filter; an incomplete one of a known type is the constant 1."""
    if not is_object(item):
        raise FilterRefused("Every property filter must be an object")
    _check_types(item)
    if is_array(item.get("values")) and item.get("type") in {"AND", "OR"}:
        return _group(item, context, depth=depth)
    kind = item.get("type")
    if kind and kind not in FUNCTION_TYPES:
        hint = near(kind, FUNCTION_TYPES) or f" Use one of {', '.join(FUNCTION_TYPES[:-1])}."
        raise FilterRefused(f'Property filters of type "{kind}" are not supported.{hint}')
    if kind == "hogql":
        return _expression(item)
    if kind in COHORT_TYPES:
        raise FilterRefused(
            "Cohorts cannot be used in function filters. Use person property filters instead"
        )
    if missing_key(item) is not None:
        return constant(1)
    if kind == "element":
        return _element(item, context)
    value = _typed_value(item, context)
    return apply_operator(_subject(item), _operator(item), value, context)


def _group(group: PropertyFilter, context: FilterContext, *, depth: int) -> "tree.Expression":
    if depth > MAX_NESTING:
        raise FilterRefused("The property groups are nested too deeply")
    values = array_at(group, "values")
    parts = [property_to_tree(value, context, depth=depth + 1) for value in values]
    return any_of(parts) if group.get("type") == "OR" else all_of(parts)


def _check_types(item: PropertyFilter) -> None:
    """Check the types of this free-form JSON; the code below relies on them."""
    if not isinstance(item.get("type"), str | None):
        raise FilterRefused("The type of a property filter must be a string")
    if not isinstance(item.get("key"), str | int | None) or isinstance(item.get("key"), bool):
        raise FilterRefused("The key of a property filter must be a string")
    _operator(item)
    value = item.get("value")
    for each in value if is_array(value) else [value]:
        if isinstance(each, dict | list):
            raise FilterRefused(
                "The value of a property filter must be a scalar or a list of scalars"
            )


def missing_key(item: PropertyFilter) -> str | None:
    """The key without which a property filter is no condition; None if it is complete.

    Values may have any JSON type: the warnings of a save read filters that cannot be compiled too.

    Example:
        >>> missing_key({"key": "plan", "type": "event"})
        'value'
    """
    if item.get("type") in (None, "", "empty"):
        return "type"
    if not item.get("key"):
        return "key"
    if item.get("type") == "hogql" or item.get("operator") in tuple(WITHOUT_VALUE):
        return None
    return "value" if item.get("value") is None else None


def _operator(item: PropertyFilter) -> str:
    operator = item.get("operator")
    if operator is None:
        return "exact"
    if not isinstance(operator, str):
        raise FilterRefused("The operator of a property filter must be a string")
    return operator


def _expression(item: PropertyFilter) -> "tree.Expression":
    key = item.get("key")
    if not isinstance(key, str) or not key.strip():
        return constant(1)
    try:
        return parse_expression(key)
    except SourceError as error:
        raise FilterRefused(f'The expression "{key}" does not parse: {error.message}') from None


def _subject(item: PropertyFilter) -> "tree.Expression":
    kind, key = item["type"], str(item["key"])
    if kind in {"event", "feature"}:
        return field("elements_chain") if key == "$elements_chain" else field("properties", key)
    if kind == "person":
        if key == "distinct_id":
            return field("person", "pdi", "distinct_id")
        return field("person", "properties", key)
    if kind == "group":
        return field(f"group_{_group_index(item)}", "properties", key)
    if kind == "event_metadata":
        return field(key)
    return field("variables", *key.split("."))


def _group_index(item: PropertyFilter) -> int:
    index = item.get("group_type_index")
    if isinstance(index, str) and index.isdigit():
        index = int(index)
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < 5:
        raise FilterRefused("group_type_index must be a number from 0 to 4")
    return index


def _typed_value(item: PropertyFilter, context: FilterContext) -> Any:
    """Convert ``"true"`` to true only if the project defines the property as Boolean."""
    value = item.get("value")
    if item.get("operator") not in {None, "exact", "is_not", "is_cleaned_path_exact"}:
        return value
    kind = "event" if item["type"] == "feature" else item["type"]
    if kind == "group":
        kind = f"group_{_group_index(item)}"
    is_boolean = f"{kind}:{item['key']}" in context.boolean_properties
    if is_array(value):
        return [_boolean(entry, is_boolean=is_boolean) for entry in value]
    return _boolean(value, is_boolean=is_boolean)


def _boolean(value: Any, *, is_boolean: bool) -> Any:
    if isinstance(value, bool):
        return value if is_boolean else str(value).lower()
    if is_boolean and isinstance(value, str):
        return _BOOLEAN_TEXTS.get(value, value)
    return value


def _element(item: PropertyFilter, context: FilterContext) -> "tree.Expression":
    key, operator, value = item["key"], _operator(item), item.get("value")
    if key == "href":
        return apply_operator(field("elements_chain_href"), operator, value, context)
    if key == "text":
        test = apply_operator(field("text"), operator, value, context)
        return element_text(test)
    if key not in {"selector", "tag_name"}:
        raise FilterRefused(f'Unknown element property "{key}"')
    if operator not in {"exact", "is_not", "in", "not_in"}:
        raise FilterRefused(f'Element property "{key}" can only be compared with exact and is_not')
    values = value if is_array(value) else [value]
    condition = any_of([element_matches(str(key), str(entry)) for entry in values])
    return condition if operator in {"exact", "in"} else tree.Not(expr=condition)


def element_text(test: "tree.Expression") -> "tree.Expression":
    """Whether some text of the chain passes ``test``, which reads the variable ``text``."""
    return call(
        "arrayExists", tree.Lambda(args=("text",), expr=test), field("elements_chain_texts")
    )


def element_matches(key: str, value: str) -> "tree.Expression":
    """Whether the chain has an element with this ``selector`` or ``tag_name``."""
    try:
        pattern = selector_pattern(value) if key == "selector" else tag_name_pattern(value)
    except BadSelector as error:
        raise FilterRefused(str(error)) from None
    return compare(field("elements_chain"), "=~", constant(pattern))
