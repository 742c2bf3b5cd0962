"""Routes of one person.

Source: docs/spec/data-and-queries.md#41-persons.
"""

from typing import Annotated

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.events.persons.schemas import (
    PersonAnswer,
    PersonChanges,
    PropertyChange,
    PropertyRemoval,
    Succeeded,
    refuse_missing,
)
from hoglet.events.persons.serializers import show_person
from hoglet.events.persons.service import PersonService
from hoglet.kit.errors import MethodNotAllowed
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import describe
from hoglet.web.request_body import read_object
from hoglet.web.router import Depends, Router
from hoglet.web.validation import validate

router = Router()

type Reader = Annotated[ProjectScope, Depends(requires("person:read"))]
type Writer = Annotated[ProjectScope, Depends(requires("person:write"))]


@router.post("/persons", dependencies=[Depends(requires("person:write"))])
@describe({405: {"type": "object"}})
async def refuse_new_person() -> Response:
    """Reject creating a person: persons are created by events only."""
    raise MethodNotAllowed('Method "POST" not allowed.')


@router.get("/persons/{person_id}")
@describe({200: PersonAnswer})
async def read_person(request: Request, person_id: str, scope: Reader) -> Response:
    """Get a person, by UUID or number, with all distinct ids."""
    persons = service_of(request)
    record = await persons.find(scope.project.id, person_id)
    [person] = await persons.with_last_seen(scope.project.id, [record])
    return JsonResponse(show_person(person, scope.project.person_display_name_properties))


@router.api_route("/persons/{person_id}", methods=["PATCH", "PUT"])
@describe({202: None}, body=PersonChanges)
async def change_person(request: Request, person_id: str, scope: Writer) -> Response:
    """Merge properties into a person's; 202 once the change is on disk."""
    persons = service_of(request)
    person = await persons.find(scope.project.id, person_id)
    data = await read_object(request)
    refuse_missing(data, "properties")
    body = validate(PersonChanges, data)
    await persons.set_properties(scope, person, body.properties)
    return Response(status_code=202)


@router.post("/persons/{person_id}/update_property")
@describe({202: None}, body=PropertyChange)
async def update_property(request: Request, person_id: str, scope: Writer) -> Response:
    """Set a property of a person; 202 once the change is on disk."""
    persons = service_of(request)
    person = await persons.find(scope.project.id, person_id)
    data = await read_object(request)
    refuse_missing(data, "key", "value")
    body = validate(PropertyChange, data)
    await persons.set_properties(scope, person, {body.key: body.value})
    return Response(status_code=202)


@router.post("/persons/{person_id}/delete_property")
@describe({201: Succeeded}, body=PropertyRemoval)
async def delete_property(request: Request, person_id: str, scope: Writer) -> Response:
    """Remove a property of a person; 201 once the change is on disk."""
    persons = service_of(request)
    person = await persons.find(scope.project.id, person_id)
    data = await read_object(request)
    refuse_missing(data, "$unset")
    body = validate(PropertyRemoval, data)
    await persons.unset_property(scope, person, body.unset)
    return JsonResponse({"success": True}, status_code=201)


def service_of(request: Request) -> PersonService:
    """The service of the application."""
    service: PersonService = request.app.state.persons
    return service
