"""Routes of OpenAPI documents: of one endpoint, and of a project.

Source: docs/spec/query-endpoints.md#8-openapijson.
"""

from typing import Annotated

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.endpoints.container import services_of, urls_of
from hoglet.endpoints.openapi import endpoint as openapi
from hoglet.endpoints.openapi.project import project_document
from hoglet.endpoints.repository import ListFilters
from hoglet.endpoints.response_schemas import VERSION_PARAMETER
from hoglet.endpoints.run.request import read_version
from hoglet.endpoints.run.targets import target_of
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import describe
from hoglet.web.router import Depends, Router

router = Router()

type Reader = Annotated[ProjectScope, Depends(requires("endpoint:read"))]


@router.get("/endpoints/openapi.json")
@describe({200: {"type": "object"}})
async def openapi_of_project(request: Request, scope: Reader) -> Response:
    """Get one OpenAPI document for all active endpoints of the project."""
    services, urls = services_of(request), urls_of(request, scope)
    _, endpoints = await services.service.page(scope, ListFilters(is_active=True))
    known = await services.service.variables(scope)
    documents = [
        openapi.document(target_of(each), each.version.description, urls, known)
        for each in sorted(endpoints, key=lambda each: each.endpoint.name)
    ]
    return JsonResponse(project_document(scope.project.name, urls, documents))


@router.get("/endpoints/{name}/openapi.json")
@describe({200: {"type": "object"}}, query=(VERSION_PARAMETER,))
async def openapi_document(request: Request, name: str, scope: Reader) -> Response:
    """Get the OpenAPI document of an endpoint, active or not."""
    services = services_of(request)
    number = await services.aliases.number(scope, name, read_version(request))
    endpoint = await services.service.read(scope, name, number)
    known = await services.service.variables(scope)
    described = openapi.document(
        target_of(endpoint), endpoint.version.description, urls_of(request, scope), known
    )
    return JsonResponse(described)
