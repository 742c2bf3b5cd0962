"""Routes of stored events.

Source: docs/spec/data-and-queries.md#42-events-older-routes-scope-queryread.
"""

from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.events.persons.api import service_of
from hoglet.kit.errors import Invalid, NotFound
from hoglet.queries.container import services_of
from hoglet.queries.schemas import FILTER_QUERY, VALUE_QUERY
from hoglet.queries.search.events import EventSearch, EventsPage, read_filters
from hoglet.web.csv import csv_response, wants_csv
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import PAGE, DocumentedResponse, describe, flag, text
from hoglet.web.pagination import absolute_url
from hoglet.web.router import Depends, Router
from hoglet.web.validation import NOT_UUID, REQUIRED

router = Router()

_CSV_COLUMNS = (
    *("id", "event", "timestamp", "distinct_id", "person_id", "elements_chain", "properties"),
)

type Reader = Annotated[ProjectScope, Depends(requires("query:read"))]


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
    """Events; ``next`` leads to older ones."""

    next: str | None
    results: list[EventAnswer]


class NamedValue(DocumentedResponse):
    """A value of a property."""

    name: str


class EventValues(DocumentedResponse):
    """The most frequent values first."""

    results: list[NamedValue]
    refreshing: bool


@router.get("/events")
@describe(
    {200: EventList},
    query=(
        *FILTER_QUERY,
        text("event", "Name of the events."),
        text("person_id", "UUID or number of the person."),
        text("action_id"),
        text("after", "Exclusive; defaults to 24 hours ago, `all` for no bound."),
        text("before", "Exclusive; defaults to 5 seconds from now."),
        text("orderBy", '`["-timestamp"]` or `["timestamp"]`.'),
        flag("include_person"),
        text("format", "`csv` for CSV, without persons' properties."),
        *PAGE,
    ),
)
async def list_events(request: Request, scope: Reader) -> Response:
    """List events that match all filters, newest first; ``next`` leads to older ones."""
    person_id: UUID | None = None
    given = request.query_params.get("person_id")
    if given:
        try:
            person_id = (await service_of(request).find(scope.project.id, given)).id
        except NotFound:
            return JsonResponse({"next": None, "results": []})
        except Invalid as error:
            raise Invalid(error.detail, code=error.error_code, attr="person_id") from None
    filters = read_filters(request.query_params, person_id)
    page = await _search(request).page(scope, filters)
    events = page.events
    if request.query_params.get("include_person", "").lower() in {"false", "0"}:
        events = [each | {"person": None} for each in events]
    if wants_csv(request):
        return csv_response(_CSV_COLUMNS, map(_csv_row, events))
    return JsonResponse({"next": _next(request, page), "results": events})


@router.get("/events/values")
@describe({200: EventValues}, query=(*VALUE_QUERY, text("event_name", "Only of these events.")))
async def list_event_values(request: Request, scope: Reader) -> Response:
    """List the most frequent values of an event property in the last week."""
    query = request.query_params
    if not query.get("key"):
        raise Invalid(REQUIRED, code="required", attr="key")
    values = await _search(request).values(
        scope, query["key"], query.get("event_name"), query.get("value")
    )
    return JsonResponse({"results": values, "refreshing": False})


@router.get("/events/{event_id}")
@describe({200: EventAnswer})
async def read_event(request: Request, event_id: str, scope: Reader) -> Response:
    """Get an event with its person."""
    try:
        uuid = UUID(event_id)
    except ValueError:
        raise Invalid(NOT_UUID, code="invalid", attr="id") from None
    return JsonResponse(await _search(request).find(scope, uuid))


def _csv_row(event: dict[str, Any]) -> dict[str, Any]:
    return event | {"person_id": event["person"] and event["person"]["uuid"]}


def _search(request: Request) -> EventSearch:
    services = services_of(request)
    return EventSearch(services.service, services.endpoints.access.clock)


def _next(request: Request, page: EventsPage) -> str | None:
    if page.cursor is None:
        return None
    bound = "after" if page.ascending else "before"
    pairs = parse_qsl(request.url.query, keep_blank_values=True)
    parameters = [(name, value) for name, value in pairs if name not in {bound, "offset"}]
    return f"{absolute_url(request)}?{urlencode([*parameters, (bound, page.cursor)])}"
