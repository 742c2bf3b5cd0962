"""Request bodies and flags of deleting and splitting persons.

Source: docs/spec/data-and-queries.md#41-persons.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict

from pydantic import ConfigDict, Field, StrictBool

from hoglet.kit.errors import Invalid
from hoglet.web.openapi import documented
from hoglet.web.validation import NOT_BOOLEAN, Body, Text

MAX_PERSONS = 1000
type Id = Annotated[Text, Field(strict=True, min_length=1)]

_FLAGS = {"": False, "true": True, "1": True, "false": False, "0": False}


class _Body(Body):
    # Closed: a misspelt `keep_person` would delete the person.
    model_config = ConfigDict(
        extra="forbid", str_strip_whitespace=False, coerce_numbers_to_str=False
    )


class BulkDelete(_Body):
    """Body of ``bulk_delete``: ``ids`` are UUIDs or numbers."""

    ids: Annotated[list[Id | int], Field(max_length=MAX_PERSONS)] | None = None
    distinct_ids: Annotated[list[Id], Field(max_length=MAX_PERSONS)] | None = None
    delete_events: StrictBool = False
    delete_recordings: StrictBool = False
    keep_person: StrictBool = False


class Split(_Body):
    """Body of ``split``: the id to keep, or the ids to split."""

    main_distinct_id: Id | None = None
    distinct_ids_to_split: list[Id] | None = None


def read_flag(query: Mapping[str, str], name: str) -> bool:
    """Parse a flag of the query string.

    Raises:
        Invalid: neither true nor false.
    """
    word = query.get(name, "").lower()
    if word not in _FLAGS:
        raise Invalid(NOT_BOOLEAN, attr=name)
    return _FLAGS[word]


@documented
class BulkDeletion(TypedDict):
    """The result of a bulk deletion."""

    persons_found: int
    persons_deleted: int
    events_queued_for_deletion: bool
    recordings_queued_for_deletion: bool
    deletion_errors: list[Any]


@documented
class Deletion(TypedDict):
    """The state of the deletion of a person's events."""

    person_uuid: str
    created_at: str
    status: Literal["pending", "completed"]
    delete_verified_at: str | None


@documented
class DeletionList(TypedDict):
    """Deletions, newest first."""

    count: int
    next: str | None
    previous: str | None
    results: list[Deletion]
