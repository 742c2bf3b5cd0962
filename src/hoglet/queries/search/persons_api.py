"""Routes that search persons.

Source: docs/spec/data-and-queries.md#41-persons.
"""

from typing import Annotated, Any

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.events.persons.api import service_of
from hoglet.events.persons.schemas import PersonAnswer
from hoglet.events.persons.serializers import persons_csv, show_listed_person
from hoglet.kit.errors import Invalid
from hoglet.queries.container import services_of
from hoglet.queries.schemas import FILTER_QUERY, VALUE_QUERY
from hoglet.queries.search.persons import PersonSearch, read_filters
from hoglet.web.csv import wants_csv
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import PAGE, DocumentedResponse, describe, flag, text
from hoglet.web.pagination import page_links, parse_page
from hoglet.web.router import Depends, Router
from hoglet.web.validation import REQUIRED

router = Router()

type Reader = Annotated[ProjectScope, Depends(requires("person:read"))]

_TRUE = frozenset({"true", "1", "yes"})


class ListedPerson(PersonAnswer):
    """A person in a list, with at most ten distinct ids."""

    type: str
    is_identified: bool
    matched_recordings: list[Any]
    value_at_data_point: None


class PersonList(DocumentedResponse):
    """Persons, newest first; ``count`` if requested."""

    results: list[ListedPerson]
    next: str | None
    previous: str | None
    count: int = 0


class CountedValue(DocumentedResponse):
    """A value of a property, and its number of persons."""

    name: str
    count: int


class PersonValues(DocumentedResponse):
    """The most frequent values first."""

    results: list[CountedValue]
    refreshing: bool


@router.get("/persons")
@describe(
    {200: PersonList},
    query=(
        *FILTER_QUERY,
        text("email", "The exact email."),
        text("search", "Part of the email or name, or a complete distinct id or UUID."),
        flag("include_total", "Whether to include `count`."),
        text("format", "`csv` for CSV."),
        *PAGE,
    ),
)
async def list_persons(request: Request, scope: Reader) -> Response:
    """List persons that match all filters, newest first."""
    filters, page = read_filters(request.query_params), parse_page(request.query_params)
    search = search_of(request)
    persons, has_more = await search.page(scope, filters, page)
    names = scope.project.person_display_name_properties
    if wants_csv(request):
        return persons_csv(persons, names)
    answer: dict[str, Any] = {
        **page_links(request, page, has_more=has_more),
        "results": [show_listed_person(each, names) for each in persons],
    }
    if request.query_params.get("include_total", "").lower() in _TRUE:
        answer["count"] = await search.count(scope, filters)
    return JsonResponse(answer)


@router.get("/persons/values")
@describe({200: PersonValues}, query=VALUE_QUERY)
async def list_person_values(request: Request, scope: Reader) -> Response:
    """List the most frequent values of a person property."""
    key = request.query_params.get("key")
    if not key:
        raise Invalid(REQUIRED, code="required", attr="key")
    part = request.query_params.get("value")
    values = await search_of(request).values(scope, key, part)
    return JsonResponse({"results": values, "refreshing": False})


def search_of(request: Request) -> PersonSearch:
    """The person search over the services of the application."""
    return PersonSearch(services_of(request).service, service_of(request))
