"""Routes of integrations, in the shape that PostHog's public clients expect."""

from typing import Annotated

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.functions.integrations.schemas import IntegrationFields, IntegrationObject
from hoglet.functions.integrations.service import IntegrationService
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import PAGE, Page, describe, text
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.router import Depends, Router

router = Router()

PATH = "/integrations"
INTEGRATION_PATH = PATH + "/{integration_id}"

type Reads = Annotated[ProjectScope, Depends(requires("integration:read"))]
type Writes = Annotated[ProjectScope, Depends(requires("integration:write"))]


def service_of(request: Request) -> IntegrationService:
    """The application's service of integrations."""
    service: IntegrationService = request.app.state.integrations
    return service


@router.get(PATH)
@describe({200: Page[IntegrationObject]}, query=(*PAGE, text("kind")))
async def list_integrations(request: Request, scope: Reads) -> Response:
    """List integrations, optionally of one ``kind``."""
    page, kind = parse_page(request.query_params), request.query_params.get("kind") or None
    count, visible = await service_of(request).page(scope, page, kind)
    return JsonResponse(envelope(request, page, count, visible))


@router.post(PATH)
@describe({201: IntegrationObject}, body=IntegrationFields)
async def create_integration(request: Request, scope: Writes) -> Response:
    """Store a credential."""
    view = await service_of(request).create(scope, await read_object(request))
    return JsonResponse(view, status_code=201)


@router.get(INTEGRATION_PATH)
@describe({200: IntegrationObject})
async def get_integration(request: Request, integration_id: str, scope: Reads) -> Response:
    """Get an integration, without its token."""
    return JsonResponse(await service_of(request).get(scope, integration_id))


@router.api_route(INTEGRATION_PATH, methods=["PATCH", "PUT"])
@describe({200: IntegrationObject}, body=IntegrationFields)
async def update_integration(request: Request, integration_id: str, scope: Writes) -> Response:
    """Update an integration or its token."""
    body = await read_object(request)
    return JsonResponse(await service_of(request).update(scope, integration_id, body))


@router.delete(INTEGRATION_PATH)
@describe({204: None})
async def delete_integration(request: Request, integration_id: str, scope: Writes) -> Response:
    """Delete an integration and its token."""
    await service_of(request).delete(scope, integration_id)
    return Response(status_code=204)
