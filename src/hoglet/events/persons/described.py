"""Answers of the routes of persons, for the OpenAPI document."""

from typing import Any

from hoglet.events.persons.schemas import (
    PersonChanges,
    PropertyChange,
    PropertyRemoval,
)
from hoglet.web.openapi import DocumentedResponse, RouteDoc
from hoglet.web.paths import PROJECT_PREFIX


class PersonAnswer(DocumentedResponse):
    """A person."""

    id: int
    uuid: str
    name: str
    distinct_ids: list[str]
    properties: dict[str, Any]
    created_at: str
    last_seen_at: str | None


class Succeeded(DocumentedResponse):
    """It is done, or on disk to be done."""

    success: bool


_ALL = PROJECT_PREFIX + "/persons"
_ONE = _ALL + "/{person_id}"

ABOUT: dict[tuple[str, str], RouteDoc] = {
    ("POST", _ALL): RouteDoc({405: {"type": "object"}}),
    ("GET", _ONE): RouteDoc({200: PersonAnswer}),
    ("PATCH", _ONE): RouteDoc({202: None}, body=PersonChanges),
    ("POST", _ONE + "/update_property"): RouteDoc({202: None}, body=PropertyChange),
    ("POST", _ONE + "/delete_property"): RouteDoc({201: Succeeded}, body=PropertyRemoval),
}
