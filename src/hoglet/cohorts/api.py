"""Routes of cohorts (docs/spec/data-and-queries.md#31-routes)."""

from collections.abc import Mapping
from typing import Annotated, Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.activity import page_of_activities
from hoglet.access.auth import authorize, requires
from hoglet.access.principals import ProjectScope
from hoglet.access.repository import users_by_id
from hoglet.cohorts import repository
from hoglet.cohorts.container import services_of
from hoglet.cohorts.repository import matching_cohorts
from hoglet.cohorts.schemas import (
    AddedPersons,
    CohortAnswer,
    CohortFields,
    CohortPage,
    CohortsOfPerson,
    CohortUsers,
    Done,
    PersonPage,
    RemovedPerson,
    list_params,
    read_fields,
)
from hoglet.cohorts.serializers import calculation_object, cohort_object
from hoglet.cohorts.service import ACTIVITY_SCOPE, as_uuids
from hoglet.cohorts.static.csv_upload import read_cohort_body
from hoglet.cohorts.tables import CohortRow
from hoglet.cohorts.usage import usage_of
from hoglet.endpoints.worker.query_errors import as_query_error
from hoglet.events.persons.serializers import persons_csv, show_listed_person
from hoglet.kit.errors import Invalid, MethodNotAllowed, NotFound, SourceError
from hoglet.web.csv import wants_csv
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import describe
from hoglet.web.pagination import DEFAULT_LIMIT, envelope, page_links, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.router import Depends, Router
from hoglet.web.validation import validate

router = Router()

type Reader = Annotated[ProjectScope, Depends(requires("cohort:read"))]
type Writer = Annotated[ProjectScope, Depends(requires("cohort:write"))]
type ActivityReader = Annotated[ProjectScope, Depends(requires("activity_log:read"))]

_DONE = {"success": True}


@router.get("/cohorts")
@describe({200: CohortPage})
async def list_cohorts(request: Request, scope: Reader) -> Response:
    """List cohorts, newest first."""
    params = list_params(request.query_params)
    page = parse_page(request.query_params)
    async with services_of(request).service.database.read() as session:
        rows = matching_cohorts(await repository.list_all(session, scope.project.id), params)
        visible = rows[page.offset :][: page.limit]
        users = await users_by_id(session, [row.created_by_id for row, _ in visible])
    results = [cohort_object(row, users, match=match, basic=params.basic) for row, match in visible]
    return JsonResponse(envelope(request, page, len(rows), results))


@router.post("/cohorts")
@describe({201: CohortAnswer}, body=CohortFields)
async def create_cohort(request: Request, scope: Writer) -> Response:
    """Create a cohort; its members are computed in the background."""
    body, csv = await read_cohort_body(request)
    fields, sent = read_fields(body, csv=csv)
    view = await services_of(request).service.create(scope, fields, sent, csv)
    return JsonResponse(view, status_code=201)


@router.get("/cohorts/activity")
@describe({200: CohortPage})
async def list_all_activity(request: Request, scope: ActivityReader) -> Response:
    """List the activity of all cohorts, newest first."""
    return await _activity(request, scope, None)


@router.get("/cohorts/{cohort_id}")
@describe({200: CohortAnswer})
async def read_cohort(request: Request, cohort_id: str, scope: Reader) -> Response:
    """Get a cohort, including deleted ones."""
    return JsonResponse(await services_of(request).service.get(scope, cohort_id))


@router.api_route("/cohorts/{cohort_id}", methods=["PATCH", "PUT"])
@describe({200: CohortAnswer}, body=CohortFields)
async def update_cohort(request: Request, cohort_id: str, scope: Writer) -> Response:
    """Update a cohort; ``{"deleted": true}`` deletes it."""
    body, csv = await read_cohort_body(request)
    fields, sent = read_fields(body, csv=csv)
    view = await services_of(request).service.update(scope, cohort_id, fields, sent, csv)
    return JsonResponse(view)


@router.delete("/cohorts/{cohort_id}")
@describe({405: {"type": "object"}})
async def refuse_delete(request: Request, cohort_id: str, scope: Writer) -> Response:
    """Reject DELETE: cohorts are deleted with PATCH."""
    await services_of(request).service.get(scope, cohort_id)
    raise MethodNotAllowed('Method "DELETE" not allowed. PATCH {"deleted": true} deletes a cohort.')


@router.get("/cohorts/{cohort_id}/persons")
@describe({200: PersonPage})
async def list_persons(request: Request, cohort_id: str, scope: Reader) -> Response:
    """List the persons of a cohort; also requires ``person:read``."""
    await _also(request, scope, "person:read")
    row = await _row(request, scope, cohort_id)
    page = parse_page(request.query_params)
    search = request.query_params.get("search", "").replace("\x00", "")
    try:
        persons, has_more = await services_of(request).persons.page(
            scope.project, row, page, search=search, properties=_properties(request.query_params)
        )
    except SourceError as error:
        raise as_query_error(error) from None
    names = scope.project.person_display_name_properties
    if wants_csv(request):
        return persons_csv(persons, names)
    links = page_links(request, page, has_more=has_more)
    return JsonResponse({**links, "results": [show_listed_person(each, names) for each in persons]})


@router.patch("/cohorts/{cohort_id}/add_persons_to_static_cohort")
@describe({200: Done}, body=AddedPersons)
async def add_persons(request: Request, cohort_id: str, scope: Writer) -> Response:
    """Add persons to a static cohort by their ids."""
    row = await _static_row(request, scope, cohort_id)
    body = validate(AddedPersons, await read_object(request))
    ids = as_uuids(body.person_ids, "person_ids")
    if not ids:
        return JsonResponse(_DONE)
    services = services_of(request)
    async with services.service.database.read() as session:
        known = await repository.known_persons(session, scope.project.id, ids)
    if not known:
        raise Invalid("None of these persons exists in the project.", attr="person_ids")
    await services.static.add(row, known)
    return JsonResponse(_DONE)


@router.patch("/cohorts/{cohort_id}/remove_person_from_static_cohort")
@describe({200: Done}, body=RemovedPerson)
async def remove_person(request: Request, cohort_id: str, scope: Writer) -> Response:
    """Remove a person from a static cohort."""
    row = await _static_row(request, scope, cohort_id)
    body = validate(RemovedPerson, await read_object(request))
    try:
        (person,) = as_uuids([body.person_id], "person_id")
    except Invalid as error:
        error.attr = "person_id"
        raise
    services = services_of(request)
    async with services.service.database.read() as session:
        if not await repository.known_persons(session, scope.project.id, {person}):
            raise NotFound("The person does not exist.")
    await services.static.remove(row, person)
    return JsonResponse(_DONE)


@router.api_route("/cohorts/{cohort_id}/duplicate_as_static_cohort", methods=["GET", "POST"])
@describe({200: CohortAnswer})
async def duplicate_cohort(request: Request, cohort_id: str, scope: Writer) -> Response:
    """Create a static copy of a dynamic cohort."""
    return JsonResponse(await services_of(request).service.duplicate(scope, cohort_id))


@router.get("/cohorts/{cohort_id}/calculation_history")
@describe({200: CohortPage})
async def list_calculations(request: Request, cohort_id: str, scope: Reader) -> Response:
    """List the calculations of a cohort, newest first."""
    row = await _row(request, scope, cohort_id)
    page = parse_page(request.query_params)
    async with services_of(request).service.database.read() as session:
        count, rows = await repository.history(
            session, row.id, limit=page.limit or DEFAULT_LIMIT, offset=page.offset
        )
    return JsonResponse(envelope(request, page, count, [calculation_object(row) for row in rows]))


@router.get("/cohorts/{cohort_id}/used_in")
@describe({200: CohortUsers})
async def list_users(request: Request, cohort_id: str, scope: Reader) -> Response:
    """List what uses a cohort."""
    row = await _row(request, scope, cohort_id)
    async with services_of(request).service.database.read() as session:
        usage = await usage_of(session, scope.project, row)
    return JsonResponse(usage.body())


@router.get("/cohorts/{cohort_id}/activity")
@describe({200: CohortPage})
async def list_activity(request: Request, cohort_id: str, scope: ActivityReader) -> Response:
    """List the activity of a cohort, newest first."""
    row = await _row(request, scope, cohort_id)
    return await _activity(request, scope, str(row.id))


@router.get("/persons/cohorts")
@describe({200: CohortsOfPerson})
async def list_cohorts_of_person(request: Request, scope: Reader) -> Response:
    """List the cohorts that contain a person."""
    await _also(request, scope, "person:read")
    person_id = request.query_params.get("person_id")
    if not person_id:
        raise Invalid("This field is required.", code="required", attr="person_id")
    cohorts = await services_of(request).persons.cohorts_of(scope.project, person_id)
    return JsonResponse({"results": cohorts})


async def _row(request: Request, scope: ProjectScope, cohort_id: str) -> CohortRow:
    service = services_of(request).service
    async with service.database.read() as session:
        return await service.row(session, scope, cohort_id)


async def _static_row(request: Request, scope: ProjectScope, cohort_id: str) -> CohortRow:
    row = await _row(request, scope, cohort_id)
    if not row.is_static:
        raise Invalid("Persons can only be added to and removed from static cohorts.")
    return row


async def _also(request: Request, scope: ProjectScope, scope_name: str) -> None:
    await authorize(request, str(scope.project.id), scope_name, throttle=False)


async def _activity(request: Request, scope: ProjectScope, item_id: str | None) -> Response:
    page = parse_page(request.query_params)
    async with services_of(request).service.database.read() as session:
        count, results = await page_of_activities(
            session, scope.project.id, scope=ACTIVITY_SCOPE, item_id=item_id, page=page
        )
    return JsonResponse(envelope(request, page, count, results))


def _properties(query: Mapping[str, str]) -> list[Any]:
    text = query.get("properties")
    if not text:
        return []
    try:
        filters = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise Invalid("Must be JSON: a list of filters.", attr="properties") from None
    if not isinstance(filters, list):
        raise Invalid("Must be a list of filters.", attr="properties")
    return [{"type": "person"} | each if isinstance(each, dict) else each for each in filters]
