"""The accepted keys and values of query nodes, derived from ``kinds`` and ``parts``.

A shape is one of: a tuple of types; ``Range``; ``ANY`` (stored unchanged); a list of one shape,
followed by its maximum length; a dict of all keys; ``Choice``; ``PROPERTIES``; a function that
returns the shape of a value.

Source: docs/spec/data-and-queries.md#74-closed-schema-of-nodes,
docs/spec/data-and-queries.md#75-series-and-display.
"""

from collections.abc import Mapping
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAliasType,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from hoglet.hogql.errors import near, refused
from hoglet.hogql.query_json import kinds as queries
from hoglet.hogql.query_json import parts

type QueryNode = dict[str, Any]
"""A query as JSON, of any kind: ``{"kind": "HogQLQuery", "query": "SELECT 1"}``.

Once it is checked, it has the type of its kind in ``hoglet.hogql.query_json.kinds``.
"""

type VariableValues = dict[str, Any]
"""Values of a query's variables by code name, of the variables' types: ``{"plan": "pro"}``."""

type Shape = Any

TEXT = (str,)
WHOLE = (int,)
FLAG = (bool,)
ANY = "any"
PROPERTIES = "properties"
"""A list of property filters, or one group."""


class Choice(tuple[str, ...]):
    """An enumeration."""

    __slots__ = ()


class EachValue(tuple[Shape, ...]):
    """A map with arbitrary keys whose values have one shape."""

    __slots__ = ()


def property_shape(item: Mapping[str, Any]) -> Shape:
    """The keys of a property filter, or of a group."""
    return (
        PROPERTY if not isinstance(item.get("values"), list) or item.get("key") else PROPERTY_GROUP
    )


def series_kind(item: Mapping[str, Any]) -> str:
    """The kind of a series item; by default, a numeric ``id`` means an action.

    Raises:
        SourceError: an unknown kind.
    """
    kind = item.get("kind")
    if kind is None:
        is_action = isinstance(item.get("id"), int) and not isinstance(item.get("id"), bool)
        return "ActionsNode" if is_action else "EventsNode"
    if not isinstance(kind, str) or kind not in SERIES:
        hint = near(str(kind), SERIES) or f" Use one of {', '.join(SERIES)}."
        raise refused(f"Unknown kind of series '{kind}'.{hint}", code="invalid_choice", attr="kind")
    return kind


def _series_shape(item: Mapping[str, Any]) -> Shape:
    return SERIES[series_kind(item)]


def _member_shape(item: Mapping[str, Any]) -> Shape:
    kind = series_kind(item)
    if kind == "GroupNode":
        raise refused("A GroupNode can contain only events and actions.", attr="kind")
    return SERIES[kind]


_BY_VALUE: dict[Any, Shape] = {
    parts.PropertyFilters: PROPERTIES,
    parts.PropertyItem: property_shape,
    parts.Series: _series_shape,
    parts.GroupMember: _member_shape,
}
"""Unions whose member depends on the value."""


def _shape(hint: Any) -> Shape:
    """The shape of an annotation: ``int | float`` gives ``(int, float)``."""
    if hint in _BY_VALUE:
        return _BY_VALUE[hint]
    if isinstance(hint, TypeAliasType):
        return _shape(hint.__value__)
    if hint is Any:
        return ANY
    if is_typeddict(hint):
        return keys_of(hint)
    return _generic_shape(hint) if get_args(hint) else (hint,)


def _generic_shape(hint: Any) -> Shape:
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        limit = args[1]
        return [*_shape(args[0]), limit.items] if isinstance(limit, parts.MaxLength) else limit
    if origin is Literal:
        return Choice(args)
    if origin is list:
        return [_shape(args[0])]
    if origin is dict:
        return EachValue((_shape(args[1]),))
    if origin in {UnionType, Union}:
        return args
    raise TypeError(f"no shape for {hint}")


def keys_of(node: type) -> dict[str, Shape]:
    """The keys of a type and their shapes; ``kind`` comes first and was checked before."""
    hints = get_type_hints(node, include_extras=True)
    kind = {"kind": TEXT} if hints.pop("kind", None) else {}
    options = dict.fromkeys(parts.DISPLAY_OPTIONS.get(node, ()), ANY)
    return {**kind, **{key: _shape(hint) for key, hint in hints.items()}, **options}


def _by_kind(union: TypeAliasType) -> dict[str, dict[str, Shape]]:
    nodes: list[type] = [*get_args(union.__value__)]
    return {get_args(get_type_hints(node)["kind"])[0]: keys_of(node) for node in nodes}


PROPERTY = keys_of(parts.PropertyFilter)
PROPERTY_GROUP = keys_of(parts.PropertyGroup)
MODIFIERS = keys_of(parts.Modifiers)
TAGS = keys_of(parts.QueryTags)
FILTERS = keys_of(queries.HogQLFilters)
"""``filters`` of a HogQLQuery."""
SERIES = _by_kind(parts.Series)
NODES = {**_by_kind(queries.InsightQuery), "HogQLQuery": keys_of(queries.HogQLQuery)}
"""The queries by kind."""

_DEFAULTS: dict[str, Any] = {"filterTestAccounts": False, "properties": [], "interval": "day"}
_WITHOUT_INTERVAL = ("FunnelsQuery",)


def default_of(kind: str, key: str) -> Any:
    """The stored value of a key that was not sent; null for most keys.

    Example:
        >>> default_of("TrendsQuery", "interval")
        'day'
    """
    if kind == "HogQLQuery" or (key == "interval" and kind in _WITHOUT_INTERVAL):
        return None
    default = _DEFAULTS.get(key)
    return [] if default == [] else default
