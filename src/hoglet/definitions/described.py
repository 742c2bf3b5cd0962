"""Answers of the definition routes, for the OpenAPI document."""

from typing import Annotated, Any, Literal

from pydantic import Field

from hoglet.definitions.listing import EVENT_TYPES, ORDERINGS, PROPERTY_KINDS
from hoglet.definitions.schemas import (
    EventChanges,
    NewEvent,
    PropertyChanges,
    PropertyType,
)
from hoglet.web.openapi import (
    PAGE,
    DocumentedResponse,
    OpenResponse,
    RouteDoc,
    flag,
    text,
)
from hoglet.web.paths import PROJECT_PREFIX


class DefinitionUser(OpenResponse):
    """A user."""

    id: int
    email: str


class PropertyDefinition(DocumentedResponse):
    """A property; ``unconverted_share`` of its last 10,000 values do not convert to its type."""

    id: str
    name: str
    description: str
    tags: list[str]
    is_numerical: bool
    property_type: PropertyType | None
    is_seen_on_filtered_events: bool | None
    updated_at: str | None
    updated_by: DefinitionUser | None
    verified: bool
    verified_at: str | None
    verified_by: DefinitionUser | None
    hidden: bool
    unconverted_share: Annotated[float, Field(ge=0, le=1)] | None


class EventDefinition(DocumentedResponse):
    """An event."""

    id: str
    name: str
    owner: DefinitionUser | None
    description: str
    tags: list[str]
    created_at: str | None
    updated_at: str | None
    updated_by: DefinitionUser | None
    last_seen_at: str | None
    last_updated_at: str | None
    verified: bool
    verified_at: str | None
    verified_by: DefinitionUser | None
    hidden: bool
    is_action: Literal[False]
    action_id: None
    is_calculating: Literal[False]
    last_calculated_at: None
    created_by: DefinitionUser | None
    post_to_slack: Literal[False]
    default_columns: list[Any]


class PropertyDefinitions(DocumentedResponse):
    """A page of property definitions."""

    count: int
    next: str | None
    previous: str | None
    results: list[PropertyDefinition]


class EventDefinitions(DocumentedResponse):
    """A page of event definitions."""

    count: int
    next: str | None
    previous: str | None
    results: list[EventDefinition]


_PROPERTIES = PROJECT_PREFIX + "/property_definitions"
_PROPERTY = _PROPERTIES + "/{definition_id}"
_EVENTS = PROJECT_PREFIX + "/event_definitions"
_EVENT = _EVENTS + "/{definition_id}"
_SEARCH = text("search", "Words that all occur in the name or its title.")
_SAID = (flag("verified"), flag("exclude_hidden"))
_EXCLUDED = text("excluded_properties", "A JSON list of names to leave out.")
_ORDERS = [*ORDERINGS, *(f"-{name}" for name in ORDERINGS)]

_LIST_PROPERTIES = RouteDoc(
    {200: PropertyDefinitions},
    query=(
        *PAGE,
        text("type", "Whose properties; default event.", enum=list(PROPERTY_KINDS)),
        text("group_type_index", "0 to 4, with type=group only.", enum=list("01234")),
        _SEARCH,
        text("properties", "Exact names, separated by commas."),
        _EXCLUDED,
        text("event_names", "A JSON list; tells which properties these events have."),
        flag("filter_by_event_names", "Only properties of these events."),
        flag("is_numerical"),
        flag("is_feature_flag"),
        flag("exclude_core_properties"),
        *_SAID,
    ),
)
_LIST_EVENTS = RouteDoc(
    {200: EventDefinitions},
    query=(
        *PAGE,
        text("event_type", "All, without or with a $ before the name.", enum=list(EVENT_TYPES)),
        _SEARCH,
        text("ordering", "Default: last seen day, newest first, then name.", enum=_ORDERS),
        _EXCLUDED,
        text("tags", "A JSON list; events that have one of them."),
        *_SAID,
    ),
)
_SEEN = RouteDoc(
    {200: {"type": "object", "additionalProperties": {"type": "boolean"}}},
    query=(text("event_names", "A JSON list."), text("property_name", "Required.")),
)

ABOUT: dict[tuple[str, str], RouteDoc] = {
    ("GET", _PROPERTIES): _LIST_PROPERTIES,
    ("GET", _PROPERTIES + "/seen_together"): _SEEN,
    ("GET", _PROPERTY): RouteDoc({200: PropertyDefinition}),
    ("PATCH", _PROPERTY): RouteDoc({200: PropertyDefinition}, body=PropertyChanges),
    ("PUT", _PROPERTY): RouteDoc({200: PropertyDefinition}, body=PropertyChanges),
    ("DELETE", _PROPERTY): RouteDoc({204: None}),
    ("GET", _EVENTS): _LIST_EVENTS,
    ("POST", _EVENTS): RouteDoc({201: EventDefinition}, body=NewEvent),
    ("GET", _EVENT): RouteDoc({200: EventDefinition}),
    ("PATCH", _EVENT): RouteDoc({200: EventDefinition}, body=EventChanges),
    ("PUT", _EVENT): RouteDoc({200: EventDefinition}, body=EventChanges),
    ("DELETE", _EVENT): RouteDoc({204: None}),
}
