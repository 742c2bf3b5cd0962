"""Routes of hog functions.

Source: docs/spec/hog-functions.md#1-routes-and-common-rules.

``icon``, ``icons``, ``rearrange`` and ``new`` stand before ``{function_id}``.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.functions.function_view import full_item, full_object, list_item
from hoglet.functions.listing import read_listing, unknown_user
from hoglet.functions.service import FunctionService
from hoglet.kit.errors import MethodNotAllowed
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.responses import JsonResponse, json_response

router = APIRouter()

PATH = "/hog_functions"
ONE = PATH + "/{function_id}"

type Reads = Annotated[ProjectScope, Depends(requires("hog_function:read"))]
type Writes = Annotated[ProjectScope, Depends(requires("hog_function:write"))]


def service_of(request: Request) -> FunctionService:
    """The functions of the application."""
    service: FunctionService = request.app.state.functions
    return service


@router.get(PATH)
async def list_functions(request: Request, scope: Reads) -> Response:
    """Row 1."""
    service = service_of(request)
    listing, page = read_listing(request.query_params), parse_page(request.query_params)
    if listing.wish.created_by is not None and not await service.knows_user(
        listing.wish.created_by
    ):
        raise unknown_user()
    count, shown = await service.page(scope, listing, page)
    shape = full_item if listing.full else list_item
    return JsonResponse(envelope(request, page, count, [shape(one) for one in shown]))


@router.post(PATH)
async def create_function(request: Request, scope: Writes) -> Response:
    """Row 2."""
    shown = await service_of(request).create(scope, await read_object(request))
    return JsonResponse(full_object(shown), status_code=201)


@router.api_route(PATH + "/rearrange", methods=["PATCH", "PUT"])
async def rearrange_functions(request: Request, scope: Writes) -> Response:
    """Row 13."""
    body = await read_object(request)
    shown = await service_of(request).rearrange(scope, body.get("orders"))
    return json_response(request, [full_object(one) for one in shown])


@router.get(PATH + "/rearrange")
async def refuse_rearrange(request: Request, scope: Reads) -> Response:  # noqa: ARG001 (the guard)
    """``rearrange`` is no function id, so it is not for the route below."""
    raise MethodNotAllowed(f'Method "{request.method}" not allowed.')


@router.get(ONE)
async def get_function(request: Request, function_id: str, scope: Reads) -> Response:
    """Row 3."""
    return JsonResponse(full_object(await service_of(request).get(scope, function_id)))


@router.api_route(ONE, methods=["PATCH", "PUT"])
async def update_function(request: Request, function_id: str, scope: Writes) -> Response:
    """Row 4."""
    body: dict[str, Any] = await read_object(request)
    return JsonResponse(full_object(await service_of(request).update(scope, function_id, body)))


@router.delete(ONE)
async def delete_function(function_id: str, scope: Writes) -> Response:  # noqa: ARG001 (the path)
    """Row 5: functions are deleted by ``PATCH {"deleted": true}``; this always refuses."""
    return Response(status_code=405)
