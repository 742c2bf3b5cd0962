"""Answers of the lists of persons and events, for the OpenAPI document."""

from typing import Any

from hoglet.events.persons.described import PersonAnswer
from hoglet.web.openapi import PAGE, DocumentedResponse, RouteDoc, flag, text
from hoglet.web.paths import PROJECT_PREFIX


class ListedPerson(PersonAnswer):
    """A person in a list, with at most ten distinct ids."""

    type: str
    is_identified: bool
    matched_recordings: list[Any]
    value_at_data_point: None


class PersonList(DocumentedResponse):
    """Persons, newest first; ``count`` where it was asked for."""

    results: list[ListedPerson]
    next: str | None
    previous: str | None
    count: int = 0


class CountedValue(DocumentedResponse):
    """A value of a property, and how many persons have it."""

    name: str
    count: int


class PersonValues(DocumentedResponse):
    """The most frequent values first."""

    results: list[CountedValue]
    refreshing: bool


class PersonOfEvent(DocumentedResponse):
    """The person an event belongs to."""

    uuid: str
    distinct_ids: list[str]
    properties: dict[str, Any]
    created_at: str


class EventAnswer(DocumentedResponse):
    """A stored event."""

    id: str
    distinct_id: str
    properties: dict[str, Any]
    event: str
    timestamp: str
    person: PersonOfEvent | None
    elements: list[dict[str, Any]]
    elements_chain: str


class EventList(DocumentedResponse):
    """Events; ``next`` leads on by time."""

    next: str | None
    results: list[EventAnswer]


class NamedValue(DocumentedResponse):
    """A value of a property."""

    name: str


class EventValues(DocumentedResponse):
    """The most frequent values first."""

    results: list[NamedValue]
    refreshing: bool


_PERSONS = PROJECT_PREFIX + "/persons"
_EVENTS = PROJECT_PREFIX + "/events"
_VALUE = (text("key", "Name of the property."), text("value", "A part of the value."))
_FILTERS = (text("distinct_id"), text("properties", "JSON list of property filters."))

ABOUT: dict[tuple[str, str], RouteDoc] = {
    ("GET", _PERSONS): RouteDoc(
        {200: PersonList},
        query=(
            *_FILTERS,
            text("email", "The whole e-mail."),
            text("search", "A part of e-mail or name, or a whole distinct id or UUID."),
            flag("include_total", "Whether `count` is answered."),
            text("format", "`csv` for CSV."),
            *PAGE,
        ),
    ),
    ("GET", _PERSONS + "/values"): RouteDoc({200: PersonValues}, query=_VALUE),
    ("GET", _EVENTS): RouteDoc(
        {200: EventList},
        query=(
            *_FILTERS,
            text("event", "Name of the events."),
            text("person_id", "UUID or number."),
            text("action_id"),
            text("after", "Exclusive; 24 hours ago unless sent, `all` for no bound."),
            text("before", "Exclusive; 5 seconds from now unless sent."),
            text("orderBy", '`["-timestamp"]` or `["timestamp"]`.'),
            flag("include_person"),
            *PAGE,
        ),
    ),
    ("GET", _EVENTS + "/values"): RouteDoc(
        {200: EventValues}, query=(*_VALUE, text("event_name", "Only of these events."))
    ),
    ("GET", _EVENTS + "/{event_id}"): RouteDoc({200: EventAnswer}),
}
