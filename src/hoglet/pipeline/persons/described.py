"""Answers of deleting and splitting persons, for the OpenAPI document."""

from typing import Any, Literal

from hoglet.events.persons.described import Succeeded
from hoglet.pipeline.persons.schemas import BulkDelete, Split
from hoglet.web.openapi import PAGE, DocumentedResponse, RouteDoc, flag, text
from hoglet.web.paths import PROJECT_PREFIX


class BulkDeletion(DocumentedResponse):
    """What a bulk deletion found."""

    persons_found: int
    persons_deleted: int
    events_queued_for_deletion: bool
    recordings_queued_for_deletion: bool
    deletion_errors: list[Any]


class Deletion(DocumentedResponse):
    """How far the deletion of a person's events is."""

    person_uuid: str
    created_at: str
    status: Literal["pending", "completed"]
    delete_verified_at: str | None


class DeletionList(DocumentedResponse):
    """Deletions, newest first."""

    count: int
    next: str | None
    previous: str | None
    results: list[Deletion]


_ALL = PROJECT_PREFIX + "/persons"
_ONE = _ALL + "/{person_id}"

ABOUT: dict[tuple[str, str], RouteDoc] = {
    ("POST", _ALL + "/bulk_delete"): RouteDoc({202: BulkDeletion}, body=BulkDelete),
    ("GET", _ALL + "/deletion_status"): RouteDoc(
        {200: DeletionList},
        query=(
            text("status", enum=["pending", "completed", "all"]),
            text("person_uuid"),
            *PAGE,
        ),
    ),
    ("DELETE", _ONE): RouteDoc(
        {202: None},
        query=(flag("delete_events"), flag("delete_recordings"), flag("keep_person")),
    ),
    ("POST", _ONE + "/split"): RouteDoc({201: Succeeded}, body=Split),
}
