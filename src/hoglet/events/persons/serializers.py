"""Persons in the form of the API.

Source: docs/spec/data-and-queries.md#41-persons.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from starlette.responses import Response

from hoglet.events.persons.repository import PersonRecord
from hoglet.kit.clock import iso_z, iso_z_or_none
from hoglet.web.csv import csv_response

NAME_PROPERTIES = (
    *("email", "Email", "$email", "name", "Name"),
    *("username", "Username", "UserName"),
)
LISTED_DISTINCT_IDS = 10
_ANONYMOUS = re.compile(r"[0-9a-f]{8,}(-[0-9a-f]+)+", re.IGNORECASE)
_COLUMNS = ("id", "uuid", "name", "distinct_ids", "created_at", "is_identified", "properties")


def person_name(person: PersonRecord, name_properties: Sequence[str] | None) -> str:
    """Display name of a person: a property, else a distinct id that is not a generated one."""
    for key in name_properties or NAME_PROPERTIES:
        value = person.properties.get(key)
        if value not in (None, "") and not isinstance(value, dict | list):
            return str(value)
    chosen = (each for each in person.distinct_ids if not _ANONYMOUS.fullmatch(each))
    return next(chosen, person.distinct_ids[0] if person.distinct_ids else str(person.id))


def show_person(person: PersonRecord, name_properties: Sequence[str] | None) -> dict[str, Any]:
    """``{id, uuid, name, distinct_ids, properties, created_at, last_seen_at}``."""
    return {
        "id": person.number,
        "uuid": str(person.id),
        "name": person_name(person, name_properties),
        "distinct_ids": person.distinct_ids,
        "properties": person.properties,
        "created_at": iso_z(person.created_at),
        "last_seen_at": iso_z_or_none(person.last_seen_at),
    }


def show_listed_person(
    person: PersonRecord, name_properties: Sequence[str] | None
) -> dict[str, Any]:
    """As :func:`show_person`, with at most ten distinct ids and the additional keys of lists."""
    return show_person(person, name_properties) | {
        "type": "person",
        "distinct_ids": person.distinct_ids[:LISTED_DISTINCT_IDS],
        "is_identified": person.is_identified,
        "matched_recordings": [],
        "value_at_data_point": None,
    }


def persons_csv(persons: Iterable[PersonRecord], name_properties: Sequence[str] | None) -> Response:
    """Persons as CSV, one per line."""
    rows = (
        show_person(person, name_properties) | {"is_identified": person.is_identified}
        for person in persons
    )
    return csv_response(_COLUMNS, rows)
