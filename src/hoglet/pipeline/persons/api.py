"""Routes that delete and split persons.

Source: docs/spec/data-and-queries.md#41-persons.
"""

from typing import Annotated
from uuid import UUID

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.events.persons.api import service_of
from hoglet.events.persons.repository import PersonRecord
from hoglet.events.persons.schemas import Succeeded
from hoglet.events.tables import PersonDeletionRow
from hoglet.kit.clock import iso_z, iso_z_or_none
from hoglet.kit.errors import Invalid, NotFound
from hoglet.pipeline.persons.deletions import PersonDeletions
from hoglet.pipeline.persons.schemas import (
    BulkDelete,
    BulkDeletion,
    Deletion,
    DeletionList,
    Split,
    read_flag,
)
from hoglet.pipeline.persons.splits import PersonSplits, none_stays
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import PAGE, describe, flag, text
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.router import Depends, Router
from hoglet.web.validation import NOT_UUID, not_a_choice, validate

router = Router()

type Reader = Annotated[ProjectScope, Depends(requires("person:read"))]
type Writer = Annotated[ProjectScope, Depends(requires("person:write"))]

_STATES: dict[str, bool | None] = {"pending": False, "completed": True, "all": None}


class PersonChangeServices(msgspec.Struct, frozen=True):
    """Services stored in ``app.state.person_changes``."""

    deletions: PersonDeletions
    splits: PersonSplits


@router.post("/persons/bulk_delete")
@describe({202: BulkDeletion}, body=BulkDelete)
async def delete_persons(request: Request, scope: Writer) -> Response:
    """Delete up to 1000 persons; unknown ones are ignored."""
    body = validate(BulkDelete, await read_object(request))
    if (body.ids is None) == (body.distinct_ids is None):
        raise Invalid("Send either `ids` or `distinct_ids`.", attr="ids")
    persons = await _persons(request, scope, body)
    existing = await _services(request).deletions.request(
        scope, persons, delete_events=body.delete_events, keep_person=body.keep_person
    )
    return JsonResponse(
        {
            "persons_found": existing,
            "persons_deleted": 0 if body.keep_person else existing,
            "events_queued_for_deletion": body.delete_events,
            "recordings_queued_for_deletion": False,
            "deletion_errors": [],
        },
        status_code=202,
    )


@router.get("/persons/deletion_status")
@describe(
    {200: DeletionList},
    query=(
        text("status", enum=["pending", "completed", "all"]),
        text("person_uuid"),
        *PAGE,
    ),
)
async def list_deletions(request: Request, scope: Reader) -> Response:
    """List deletions of events with their state, newest first."""
    query, person_id = request.query_params, None
    status = query.get("status") or "all"
    if status not in _STATES:
        raise Invalid(not_a_choice(status), code="invalid_choice", attr="status")
    if query.get("person_uuid"):
        try:
            person_id = UUID(query["person_uuid"])
        except ValueError:
            raise Invalid(NOT_UUID, code="invalid", attr="person_uuid") from None
    page = parse_page(query)
    deletions = await _services(request).deletions.find_requests(
        scope.project.id, is_done=_STATES[status], person_id=person_id
    )
    visible = deletions[page.offset : page.offset + (page.limit or 0)]
    return JsonResponse(
        envelope(request, page, len(deletions), [_display(each) for each in visible])
    )


@router.delete("/persons/{person_id}")
@describe(
    {202: None},
    query=(flag("delete_events"), flag("delete_recordings"), flag("keep_person")),
)
async def delete_person(request: Request, person_id: str, scope: Writer) -> Response:
    """Delete a person, optionally with its events, which are deleted in the background."""
    query = request.query_params
    delete_events = read_flag(query, "delete_events")
    keep_person = read_flag(query, "keep_person")
    read_flag(query, "delete_recordings")
    person = await service_of(request).find(scope.project.id, person_id)
    existing = await _services(request).deletions.request(
        scope, [person], delete_events=delete_events, keep_person=keep_person
    )
    if not existing:
        raise NotFound
    return Response(status_code=202)


@router.post("/persons/{person_id}/split")
@describe({201: Succeeded}, body=Split)
async def split_person(request: Request, person_id: str, scope: Writer) -> Response:
    """Split distinct ids off a person into new persons."""
    person = await service_of(request).find(scope.project.id, person_id)
    body = validate(Split, await read_object(request))
    await _services(request).splits.split(scope, person, _split_off(person, body))
    return JsonResponse({"success": True}, status_code=201)


def _split_off(person: PersonRecord, body: Split) -> list[str]:
    main, listed = body.main_distinct_id, body.distinct_ids_to_split
    if (main is None) == (listed is None):
        raise Invalid(
            "Send either `main_distinct_id` or `distinct_ids_to_split`.",
            attr="distinct_ids_to_split",
        )
    attr = "main_distinct_id" if listed is None else "distinct_ids_to_split"
    if listed is not None and not listed:
        raise Invalid("This list may not be empty.", attr=attr)
    for name in listed if listed is not None else [main]:
        if name not in person.distinct_ids:
            raise Invalid(f'"{name}" is not a distinct id of this person.', attr=attr)
    if listed is None:
        return [name for name in person.distinct_ids if name != main]
    if set(listed) == set(person.distinct_ids):
        raise none_stays(attr)
    return listed


async def _persons(request: Request, scope: ProjectScope, body: BulkDelete) -> list[PersonRecord]:
    persons = service_of(request)
    if body.distinct_ids is not None:
        return await persons.find_by_distinct_ids(scope.project.id, body.distinct_ids)
    by_id: dict[UUID, PersonRecord] = {}
    for index, given in enumerate(body.ids or []):
        try:
            person = await persons.find(scope.project.id, str(given))
        except NotFound:
            continue
        except Invalid as error:
            raise Invalid(error.detail, code=error.error_code, attr=f"ids__{index}") from None
        by_id[person.id] = person
    return list(by_id.values())


def _display(row: PersonDeletionRow) -> Deletion:
    return {
        "person_uuid": str(row.person_id),
        "created_at": iso_z(row.requested_at),
        "status": "pending" if row.verified_at is None else "completed",
        "delete_verified_at": iso_z_or_none(row.verified_at),
    }


def _services(request: Request) -> PersonChangeServices:
    services: PersonChangeServices = request.app.state.person_changes
    return services
