"""Translates property filters ``{key, value, operator, type}`` to HogQL conditions.

A missing property is NULL, so ``exact`` does not match it and ``is_not`` does. A filter without a
key, or without a value that its operator needs, is refused; ``{}`` and ``{"type": "empty"}``, which
PostHog's interface sends for a row that nobody filled in, are no condition.

Source: docs/spec/hog-functions.md#52-property-filter-key-value-operator-type-group_type_index.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hoglet.hogql.ast_builders import (
    TRUE,
    call,
    compare,
    constant,
    every,
    field,
    fill,
    negated,
    some,
)
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import located, near, refused
from hoglet.hogql.filters.cohorts import find_cohort
from hoglet.hogql.filters.operators import Hint, operator_condition
from hoglet.hogql.frontend.preprocess import read_expression
from hoglet.hogql.query_json.nodes import PROPERTIES
from hoglet.hogql.query_json.validation import check_shape
from hoglet.hogql.schema import TABLES
from hoglet.hogql.types import DATETIME
from hoglet.kit.element_selectors import BadSelector, selector_pattern, tag_name_pattern
from hoglet.kit.property_operators import OPERATORS, WITHOUT_VALUE
from hoglet.kit.property_types import COHORT_TYPES, QUERY_TYPES
from hoglet.syntax import tree

type Condition = tree.Expression
type Prefix = tuple[str, ...]


class FilteredTable(NamedTuple):
    """The table of the filtered SELECT: ``events``, ``sessions``, ``groups`` or ``persons``."""

    table: str


EVENTS = FilteredTable("events")
_ABOUT = {
    "sessions": ({"session"}, "session properties"),
    "groups": ({"group", "hogql"}, "group properties"),
    "persons": ({"person", "person_metadata", "hogql"}, "person properties and cohorts"),
}
"""The filter types supported by tables other than events."""


def property_condition(  # noqa: PLR0911 (one return a kind)
    item: Mapping[str, Any],
    context: QueryContext,
    prefix: Prefix = (),
    source: FilteredTable = EVENTS,
) -> Condition:
    """The condition of a property filter, or of a group ``{type: "AND"|"OR", values: [...]}``.

    Args:
        item: the filter from the client.
        context: the project.
        prefix: alias of the table if the query joins several, e.g. ``("e",)``.
        source: the table.

    Raises:
        SourceError: an unknown operator, type or value, or a filter that the table does not
            support.
    """
    members = group_members(item)
    if members is not None:
        return _group_condition(item, members, context, prefix, source)
    if _is_empty(item):
        return TRUE
    kind = item.get("type") or "event"
    _check_source(item, kind, source)
    _check_complete(item, kind)
    if kind == "hogql":
        return read_expression(str(item["key"]), "key")
    if kind in COHORT_TYPES:
        return _cohort(item, context, prefix, source)
    if kind == "element":
        return _element(item, context, prefix)
    value, operator = item.get("value"), item.get("operator") or "exact"
    if kind == PERSON_METADATA:
        return _person_metadata(item, context, prefix, source)
    target = _target(item, kind, prefix) if source == EVENTS else _own_target(item, prefix, source)
    hint = _hint(item, kind, context, source)
    condition = operator_condition(target, operator, value, hint)
    is_of_group_type = source.table == "groups" and item.get("group_type_index") is not None
    return every([_group_type(item, prefix), condition]) if is_of_group_type else condition


def _group_type(item: Mapping[str, Any], prefix: Prefix) -> Condition:
    return compare("==", field(*prefix, "index"), constant(_group_index(item)))


def _group_condition(
    group: Mapping[str, Any],
    members: Sequence[Any],
    context: QueryContext,
    prefix: Prefix,
    source: FilteredTable,
) -> Condition:
    inner: list[Condition] = []
    for index, each in enumerate(members):
        with located(f"values__{index}"):
            inner.append(property_condition(each or {}, context, prefix, source))
    return some(inner) if group.get("type") == "OR" and inner else every(inner)


def _is_empty(item: Mapping[str, Any]) -> bool:
    """Whether it is ``{}`` or ``{"type": "empty"}``; null means "not sent"."""
    return all(value is None or (key, value) == ("type", "empty") for key, value in item.items())


def _check_complete(item: Mapping[str, Any], kind: str) -> None:
    """Reject an unknown type, and a filter without its key or value.

    Raises:
        SourceError: ``attr`` is the missing or wrong part.
    """
    if kind not in QUERY_TYPES:
        hint = near(kind, QUERY_TYPES) or f" Use one of {', '.join(QUERY_TYPES)}."
        text = f"Property filters of type '{kind}' are not supported.{hint}"
        raise refused(text, attr="type")
    if kind in COHORT_TYPES:
        return
    if not str(item.get("key") or "").strip():
        raise refused("A property filter needs a key, the name of the property", attr="key")
    operator = item.get("operator") or "exact"
    if kind == "hogql" or item.get("value") is not None or operator not in OPERATORS:
        return
    if operator not in WITHOUT_VALUE:
        text = f"The filter on '{item['key']}' needs a value for its operator '{operator}'"
        raise refused(f"{text}; is_set and is_not_set need none", attr="value")


def filter_expressions(items: Any, path: str) -> Iterator[tuple[str, str]]:
    """HogQL expressions in property filters, e.g. ``("properties__0__key", "1 = 1")``."""
    for own, item in single_filters(items, path):
        if item.get("type") == "hogql":
            yield f"{own}__key", str(item.get("key") or "1")  # refused if it is empty


def single_filters(items: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The filters of a list or group with their paths, e.g. ``("properties__0", {...})``."""
    if isinstance(items, Mapping):
        yield from single_filters(items.get("values"), f"{path}__values")
        return
    for index, item in enumerate(items or ()):
        if isinstance(item, Mapping) and isinstance(item.get("values"), list):
            yield from single_filters(item["values"], f"{path}__{index}__values")
        elif isinstance(item, Mapping):
            yield f"{path}__{index}", item


def group_members(item: Mapping[str, Any]) -> Sequence[Any] | None:
    """The filters of a group ``{type, values}``; None for a single filter.

    Raises:
        SourceError: a group that is neither AND nor OR.
    """
    if not isinstance(item.get("values"), list) or item.get("key"):
        return None
    kind = item.get("type")
    if kind not in {"AND", "OR"}:
        raise refused(
            f"A group of property filters must have type AND or OR, not {kind}", attr="type"
        )
    return item["values"]


def _check_source(item: Mapping[str, Any], kind: str, source: FilteredTable) -> None:
    if source == EVENTS or (kind in COHORT_TYPES and source.table == "persons"):
        return
    kinds, visible = _ABOUT[source.table]
    if kind not in kinds:
        key = str(item.get("key") or "")
        raise refused(
            f"The filter on '{key}' is of type '{kind}'; in a query of {source.table}, "
            f"{{filters}} supports only {visible}"
        )


def conditions(
    items: Any,
    context: QueryContext,
    prefix: Prefix = (),
    source: FilteredTable = EVENTS,
    attr: str = "properties",
) -> list[Condition]:
    """The conditions of a list of filters, combined with AND.

    ``attr`` is the path of the list, for errors.
    """
    check_shape(items, PROPERTIES, attr)
    if isinstance(items, Mapping):
        with located(attr):
            return [property_condition(items, context, prefix, source)]
    results: list[Condition] = []
    for index, item in enumerate(items):
        with located(f"{attr}__{index}"):
            results.append(property_condition(item or {}, context, prefix, source))
    return results


_COLUMNS = {"session": "sessions", "event_metadata": "events"}
"""The tables of filters on columns."""


def _hint(item: Mapping[str, Any], kind: str, context: QueryContext, source: FilteredTable) -> Hint:
    """The hint for the target of a filter."""
    key = str(item["key"])
    if kind in _COLUMNS:
        column = TABLES[_COLUMNS[kind]].fields.get(key)
        return Hint(context, is_time_column=getattr(column, "type", None) == DATETIME)
    bag = {"feature": "event"}.get(kind, kind)
    if kind == "group" and (source == EVENTS or item.get("group_type_index") is not None):
        bag = f"group_{_group_index(item)}"
    type_ = context.property_type(bag, key)
    return Hint(
        context,
        is_time_property=type_ == "DateTime",
        is_converted=type_ in {"DateTime", "Boolean"},
    )


def _own_target(item: Mapping[str, Any], prefix: Prefix, source: FilteredTable) -> Condition:
    """The field of a table other than events."""
    key = str(item["key"])
    if source.table == "sessions":
        return field(*prefix, key)
    if source.table == "groups" and key == _GROUP_KEY:
        return field(*prefix, "key")
    if source.table == "persons" and key == "distinct_id":
        return field(*prefix, "pdi", "distinct_id")
    return field(*prefix, "properties", key)


def _group_index(item: Mapping[str, Any]) -> int:
    index = item.get("group_type_index")
    if index is None:
        text = f"The filter on '{item.get('key')}' needs the number of its group type"
        raise refused(text, attr="group_type_index")
    if index not in range(5):
        raise refused(f"Unknown group type index: {index}", attr="group_type_index")
    return index


_GROUP_KEY = "$group_key"
"""The property name by which filters refer to a group's key."""


def group_property(index: int, name: str, prefix: Prefix = ()) -> Condition:
    """A property of an event's group; ``$group_key`` is the key, which is stored with the event."""
    if name == _GROUP_KEY:
        return call("nullIf", field(*prefix, f"$group_{index}"), constant(""))
    return field(*prefix, f"group_{index}", "properties", name)


_CHAINS = {
    "event": ("properties",),
    "feature": ("properties",),
    "person": ("person", "properties"),
    "session": ("session",),
    "event_metadata": (),
}
PERSON_METADATA = "person_metadata"
_METADATA = ("created_at", "is_identified", "last_seen_at")
_LAST_SEEN = (
    "SELECT person_id FROM (SELECT person_id, max(timestamp) AS last_seen_at FROM events "
    "GROUP BY person_id) WHERE {where}"
)


def _target(item: Mapping[str, Any], kind: str, prefix: Prefix) -> Condition:
    key = str(item["key"])
    if kind == "group":
        return group_property(_group_index(item), key, prefix)
    columns = {("event", "$elements_chain"): "elements_chain", ("person", "distinct_id"): key}
    column = columns.get(("event" if kind == "feature" else kind, key))
    return field(*prefix, column) if column else field(*prefix, *_CHAINS[kind], key)


def _person_metadata(
    item: Mapping[str, Any], context: QueryContext, prefix: Prefix, source: FilteredTable
) -> Condition:
    """Built-in fields of a person: creation, last seen, identified."""
    key, hint = str(item["key"]), Hint(context, is_time_column=item["key"] != "is_identified")
    value, operator = item.get("value"), item.get("operator") or "exact"
    if key not in _METADATA:
        text = f"Persons have no field '{key}'."
        raise refused(
            text + (near(key, _METADATA) or f" Use one of {', '.join(_METADATA)}."), attr="key"
        )
    if key == "last_seen_at":
        seen = operator_condition(field(key), operator, value, hint)
        person = "id" if source.table == "persons" else "person_id"
        return compare("in", field(*prefix, person), fill(_LAST_SEEN, where=seen))
    chain = () if source.table == "persons" else ("person",)
    target = field(*prefix, *chain, key)
    if key == "is_identified":
        target = call("toString", target)
    return operator_condition(target, operator, value, hint)


_MEMBERSHIP = {None: False, "in": False, "exact": False, "not_in": True, "is_not": True}


def _cohort(
    item: Mapping[str, Any], context: QueryContext, prefix: Prefix, source: FilteredTable
) -> Condition:
    value, operator = item.get("value"), item.get("operator")
    try:
        with located("value"):
            cohort = find_cohort(int(str(value)), context)
    except ValueError:
        raise refused(f"Not a cohort id: {value}", attr="value") from None
    if operator not in _MEMBERSHIP:
        text = f"Cohorts support only the operators 'in' and 'not_in', not '{operator}'"
        raise refused(text, attr="operator")
    negative = _MEMBERSHIP[operator] or item.get("negation")
    comparison = "not in cohort" if negative else "in cohort"
    person = "id" if source.table == "persons" else "person_id"
    return compare(comparison, field(*prefix, person), constant(cohort))


_ELEMENT_KEYS = ("selector", "tag_name", "text", "href")


def _element(item: Mapping[str, Any], context: QueryContext, prefix: Prefix) -> Condition:
    """A filter on the elements of a click; ``text`` holds if any element passes the test."""
    key, operator = str(item["key"]), item.get("operator") or "exact"
    value = item.get("value")
    if key not in _ELEMENT_KEYS:
        raise refused(f"Unknown element property '{key}'.{near(key, _ELEMENT_KEYS)}", attr="key")
    if key == "href":
        href = field(*prefix, "elements_chain_href")
        return operator_condition(href, operator, value, Hint(context))
    if key == "text":
        test = operator_condition(field("text"), operator, value, Hint(context))
        texts = field(*prefix, "elements_chain_texts")
        return call("arrayExists", tree.Lambda(args=("text",), expr=test), texts)
    if operator not in _MEMBERSHIP:
        raise refused(
            f"Element property '{key}' supports only exact and is_not, not '{operator}'",
            attr="operator",
        )
    values = value if isinstance(value, list) else [value]
    condition = some([element_matches(key, str(each), prefix) for each in values])
    return negated(condition) if operator in {"is_not", "not_in"} else condition


def element_matches(key: str, value: str, prefix: Prefix = ()) -> Condition:
    """Whether the chain has an element with this ``selector`` or ``tag_name``.

    Raises:
        SourceError: a selector that chains do not support.
    """
    try:
        pattern = selector_pattern(value) if key == "selector" else tag_name_pattern(value)
    except BadSelector as error:
        raise refused(str(error), attr="value") from None
    return call("match", field(*prefix, "elements_chain"), constant(pattern))
