"""Routes of hog functions.

Source: docs/spec/hog-functions.md#1-routes-and-common-rules.

``icon``, ``icons``, ``rearrange`` and ``new`` are registered before ``{function_id}``.
"""

from typing import Annotated

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.functions.drafts.service import Drafts
from hoglet.functions.listing import read_listing, unknown_user
from hoglet.functions.presenter import full_item, full_object, list_item
from hoglet.functions.response_schemas import FunctionFullItem, FunctionItem, FunctionObject
from hoglet.functions.schemas import FunctionChanges, FunctionFields
from hoglet.functions.service import FunctionService
from hoglet.kit.errors import Invalid, MethodNotAllowed, NotFound
from hoglet.kit.json import JsonObject
from hoglet.web.json_response import JsonResponse, json_response
from hoglet.web.openapi import PAGE, Page, describe, flag, json_object, number, text
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.router import Depends, Router

router = Router()

PATH = "/hog_functions"
FUNCTION_PATH = PATH + "/{function_id}"

type Reads = Annotated[ProjectScope, Depends(requires("hog_function:read"))]
type Writes = Annotated[ProjectScope, Depends(requires("hog_function:write"))]

_ORDERS = json_object(
    "orders", orders={"type": "object", "additionalProperties": {"type": "integer"}}
)
_LIST_QUERY = (
    *PAGE,
    text("type", "Comma-separated or repeated."),
    flag("enabled"),
    text("id", format="uuid"),
    number("created_by"),
    text("created_at", format="date-time"),
    text("updated_at", format="date-time"),
    text("search", maxLength=200),
    text("filters", "JSON object that the function's filters must contain."),
    text("filter_groups", "JSON array of such objects."),
    flag("full", "Full objects instead of list items."),
)


def service_of(request: Request) -> FunctionService:
    """The application's service of functions."""
    service: FunctionService = request.app.state.functions
    return service


@router.get(PATH)
@describe({200: Page[FunctionItem | FunctionFullItem]}, query=_LIST_QUERY)
async def list_functions(request: Request, scope: Reads) -> Response:
    """List functions, filtered and searched; ``full=true`` returns complete objects."""
    service = service_of(request)
    listing, page = read_listing(request.query_params), parse_page(request.query_params)
    if listing.filters.created_by is not None and not await service.knows_user(
        listing.filters.created_by
    ):
        raise unknown_user()
    count, visible = await service.page(scope, listing, page)
    shape = full_item if listing.full else list_item
    return JsonResponse(envelope(request, page, count, [shape(item) for item in visible]))


@router.post(PATH)
@describe({201: FunctionObject}, body=FunctionFields)
async def create_function(request: Request, scope: Writes) -> Response:
    """Create a function."""
    body: JsonObject = await read_object(request)
    if body.get("draft") is not None:
        raise Invalid("A new function has no draft yet. Create it first.", attr="draft")
    view = await service_of(request).create(scope, body)
    return JsonResponse(full_object(view), status_code=201)


@router.api_route(PATH + "/rearrange", methods=["PATCH", "PUT"])
@describe({200: {"type": "array", "items": {"type": "object"}}}, body=_ORDERS)
async def rearrange_functions(request: Request, scope: Writes) -> Response:
    """Change the execution order of transformations."""
    body = await read_object(request)
    view = await service_of(request).rearrange(scope, body.get("orders"))
    return json_response(request, [full_object(item) for item in view])


@router.get(PATH + "/rearrange")
@describe({}, problems=(405,))
async def refuse_rearrange(request: Request, scope: Reads) -> Response:  # noqa: ARG001 (the guard)
    """Reject other methods, because ``rearrange`` is not a function id."""
    raise MethodNotAllowed(f'Method "{request.method}" not allowed.')


@router.get(PATH + "/icons")
@describe({200: {"type": "array", "items": {"type": "object"}}}, query=(text("query"),))
async def list_icons(request: Request, scope: Reads) -> Response:  # noqa: ARG001 (the guard)
    """List icons; always empty, because no logo provider is configured."""
    return json_response(request, [])


@router.get(PATH + "/icon")
@describe({200: "image/*"}, query=(text("id"),), problems=(404,))
async def get_icon(request: Request, scope: Reads) -> Response:  # noqa: ARG001 (the guard)
    """Get an icon; always 404, because no logo provider is configured.

    Raises:
        Invalid: the parameter is missing.
        NotFound: in all other cases.
    """
    if not request.query_params.get("id"):
        raise Invalid("The parameter id is required.")
    raise NotFound


@router.api_route(PATH + "/icon", methods=["PATCH", "PUT"])
@router.api_route(PATH + "/icons", methods=["PATCH", "PUT"])
@describe({}, problems=(405,))
async def refuse_icons(request: Request, scope: Writes) -> Response:  # noqa: ARG001 (the guard)
    """Reject other methods, because ``icon`` and ``icons`` are not function ids."""
    raise MethodNotAllowed(f'Method "{request.method}" not allowed.')


@router.get(FUNCTION_PATH)
@describe({200: FunctionObject})
async def get_function(request: Request, function_id: str, scope: Reads) -> Response:
    """Get a function."""
    return JsonResponse(full_object(await service_of(request).get(scope, function_id)))


@router.api_route(FUNCTION_PATH, methods=["PATCH", "PUT"])
@describe({200: FunctionObject}, body=FunctionChanges, problems=(409,))
async def update_function(request: Request, function_id: str, scope: Writes) -> Response:
    """Update a function; omitted fields stay as they are. ``draft`` alone changes its draft."""
    body: JsonObject = await read_object(request)
    if "draft" in body:
        _check_alone(body)
        drafts = Drafts(service_of(request))
        return JsonResponse(full_object(await drafts.save(scope, function_id, body["draft"])))
    return JsonResponse(full_object(await service_of(request).update(scope, function_id, body)))


def _check_alone(body: JsonObject) -> None:
    """Reject a draft sent with live fields: these are two changes, and only one might succeed."""
    others = [name for name in body if name in FunctionFields.model_fields]
    if others:
        raise Invalid(f"Send draft and {others[0]} in separate requests.", attr="draft")


@router.delete(FUNCTION_PATH)
@describe({405: None})
async def delete_function(function_id: str, scope: Writes) -> Response:  # noqa: ARG001 (the path)
    """Reject DELETE: functions are deleted with ``PATCH {"deleted": true}``."""
    return Response(status_code=405)
