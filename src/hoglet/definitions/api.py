"""Routes of property and event definitions.

Source: docs/spec/data-and-queries.md#22-property_definitions and
docs/spec/data-and-queries.md#25-event_definitions.
"""

from typing import Annotated

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.definitions.listing import (
    EVENT_TYPES,
    ORDERINGS,
    PROPERTY_KINDS,
    read_event_filter,
    read_names,
    read_property_filter,
)
from hoglet.definitions.schemas import (
    EventChanges,
    EventDefinition,
    EventDefinitions,
    NewEvent,
    PropertyChanges,
    PropertyDefinition,
    PropertyDefinitions,
    PropertyForms,
)
from hoglet.definitions.service import services_of
from hoglet.kit.errors import Invalid
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import PAGE, describe, flag, text
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.router import Depends, Router
from hoglet.web.validation import validate

router = Router()

type PropertyReader = Annotated[ProjectScope, Depends(requires("property_definition:read"))]
type PropertyWriter = Annotated[ProjectScope, Depends(requires("property_definition:write"))]
type EventReader = Annotated[ProjectScope, Depends(requires("event_definition:read"))]
type EventWriter = Annotated[ProjectScope, Depends(requires("event_definition:write"))]

_SEARCH = text("search", "Words that must all occur in the name or its title.")
_FLAGS = (flag("verified"), flag("exclude_hidden"))
_EXCLUDED = text("excluded_properties", "A JSON list of names to exclude.")
_ORDERS = [*ORDERINGS, *(f"-{name}" for name in ORDERINGS)]


@router.get("/property_definitions")
@describe(
    {200: PropertyDefinitions},
    query=(
        *PAGE,
        text("type", "Owner of the properties; defaults to event.", enum=list(PROPERTY_KINDS)),
        text("group_type_index", "0 to 4, with type=group only.", enum=list("01234")),
        _SEARCH,
        text("properties", "Exact names, comma-separated."),
        _EXCLUDED,
        text("event_names", "A JSON list; sets which properties these events have."),
        flag("filter_by_event_names", "Only properties of these events."),
        flag("is_numerical"),
        flag("is_feature_flag"),
        flag("exclude_core_properties"),
        *_FLAGS,
    ),
)
async def list_property_definitions(request: Request, scope: PropertyReader) -> Response:
    """List properties of events, persons, a group type, or sessions."""
    page = parse_page(request.query_params)
    filters = read_property_filter(request.query_params)
    count, results = await services_of(request).properties.search(scope.project, filters, page)
    return JsonResponse(envelope(request, page, count, results))


@router.get("/property_definitions/seen_together")
@describe(
    {200: {"type": "object", "additionalProperties": {"type": "boolean"}}},
    query=(text("event_names", "A JSON list."), text("property_name", "Required.")),
)
async def read_seen_together(request: Request, scope: PropertyReader) -> Response:
    """Get which events have a property."""
    events = read_names(request.query_params, "event_names")
    name = request.query_params.get("property_name")
    if not name:
        raise Invalid("This field is required.", attr="property_name", code="required")
    return JsonResponse(
        await services_of(request).properties.seen_together(scope.project, events, name)
    )


@router.get("/property_definitions/{definition_id}")
@describe({200: PropertyDefinition})
async def read_property_definition(
    request: Request, definition_id: str, scope: PropertyReader
) -> Response:
    """Get a property definition."""
    return JsonResponse(await services_of(request).properties.get(scope.project, definition_id))


@router.get("/property_definitions/{definition_id}/forms")
@describe({200: PropertyForms})
async def read_property_forms(
    request: Request, definition_id: str, scope: PropertyReader
) -> Response:
    """Get how the latest values are written, and how many do not convert to the type."""
    return JsonResponse(
        await services_of(request).properties.count_forms(scope.project, definition_id)
    )


@router.api_route("/property_definitions/{definition_id}", methods=["PATCH", "PUT"])
@describe({200: PropertyDefinition}, body=PropertyChanges)
async def update_property_definition(
    request: Request, definition_id: str, scope: PropertyWriter
) -> Response:
    """Update a property's type, description, tags, verified or hidden flag."""
    changes = validate(PropertyChanges, await read_object(request))
    record = await services_of(request).properties.change(scope, definition_id, changes)
    return JsonResponse(record)


@router.delete("/property_definitions/{definition_id}")
@describe({204: None})
async def delete_property_definition(
    request: Request, definition_id: str, scope: PropertyWriter
) -> Response:
    """Delete a property definition, until the next event with the property."""
    await services_of(request).properties.delete(scope, definition_id)
    return Response(status_code=204)


@router.get("/event_definitions")
@describe(
    {200: EventDefinitions},
    query=(
        *PAGE,
        text("event_type", "All, or names without or with a leading $.", enum=list(EVENT_TYPES)),
        _SEARCH,
        text("ordering", "Defaults to last seen day, newest first, then name.", enum=_ORDERS),
        _EXCLUDED,
        text("tags", "A JSON list; events with any of these tags."),
        *_FLAGS,
    ),
)
async def list_event_definitions(request: Request, scope: EventReader) -> Response:
    """List event definitions."""
    page = parse_page(request.query_params)
    filters = read_event_filter(request.query_params)
    count, results = await services_of(request).events.search(scope.project, filters, page)
    return JsonResponse(envelope(request, page, count, results))


@router.post("/event_definitions")
@describe({201: EventDefinition}, body=NewEvent)
async def create_event_definition(request: Request, scope: EventWriter) -> Response:
    """Create the definition of an event before it is seen."""
    body = validate(NewEvent, await read_object(request))
    return JsonResponse(await services_of(request).events.create(scope, body), status_code=201)


@router.get("/event_definitions/{definition_id}")
@describe({200: EventDefinition})
async def read_event_definition(
    request: Request, definition_id: str, scope: EventReader
) -> Response:
    """Get an event definition."""
    return JsonResponse(await services_of(request).events.get(scope.project, definition_id))


@router.api_route("/event_definitions/{definition_id}", methods=["PATCH", "PUT"])
@describe({200: EventDefinition}, body=EventChanges)
async def update_event_definition(
    request: Request, definition_id: str, scope: EventWriter
) -> Response:
    """Update an event's owner, description, tags, columns, verified or hidden flag."""
    changes = validate(EventChanges, await read_object(request))
    return JsonResponse(await services_of(request).events.change(scope, definition_id, changes))


@router.delete("/event_definitions/{definition_id}")
@describe({204: None})
async def delete_event_definition(
    request: Request, definition_id: str, scope: EventWriter
) -> Response:
    """Delete an event definition, until the next such event."""
    await services_of(request).events.delete(scope, definition_id)
    return Response(status_code=204)
