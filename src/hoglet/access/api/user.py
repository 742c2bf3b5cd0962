"""Routes that clients call first: the current user, organizations and projects.

Source: docs/spec/hog-functions.md#15-bootstrap-routes.
"""

from typing import Annotated

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access import repository
from hoglet.access.api_keys.schemas import KeyObject
from hoglet.access.auth import CURRENT, access_of, requires, requires_key
from hoglet.access.principals import Principal, Project, ProjectScope
from hoglet.access.schemas import (
    MeObject,
    OrganizationObject,
    ProjectChanges,
    ProjectObject,
    TeamObject,
)
from hoglet.access.serializers import key_object, project_object, team_object
from hoglet.access.visibility import AccessQueries, change_project
from hoglet.kit.errors import NotFound
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import PAGE, Page, describe
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.router import Depends, Router
from hoglet.web.validation import validate

router = Router()


@router.get("/api/users/@me")
@describe({200: MeObject})
async def read_me(
    request: Request, principal: Annotated[Principal, Depends(requires_key("user:read"))]
) -> Response:
    """Get the user that owns the key."""
    return JsonResponse(await AccessQueries(access_of(request), principal).me())


@router.get("/api/personal_api_keys/@current")
@describe({200: KeyObject})
async def read_current_key(
    request: Request, principal: Annotated[Principal, Depends(requires_key())]
) -> Response:
    """Get the API key of this request, without its value."""
    async with access_of(request).database.read() as session:
        row = await repository.find_key(session, principal.key_id)
    if row is None:
        raise NotFound
    return JsonResponse(key_object(row))


@router.get("/api/organizations")
@describe({200: Page[OrganizationObject]}, query=PAGE)
async def list_organizations(
    request: Request, principal: Annotated[Principal, Depends(requires_key("organization:read"))]
) -> Response:
    """List the caller's organizations."""
    page = parse_page(request.query_params)
    organizations = await AccessQueries(access_of(request), principal).organizations()
    visible = organizations[page.offset :][: page.limit]
    return JsonResponse(envelope(request, page, len(organizations), visible))


@router.get("/api/organizations/{organization_id}")
@describe({200: OrganizationObject})
async def read_organization(
    request: Request,
    organization_id: str,
    principal: Annotated[Principal, Depends(requires_key("organization:read"))],
) -> Response:
    """Get an organization; ``@current`` is the one of the current project."""
    directory = AccessQueries(access_of(request), principal)
    return JsonResponse(await directory.organization(organization_id))


@router.get("/api/organizations/{organization_id}/projects")
@describe({200: Page[TeamObject]}, query=PAGE)
async def list_organization_projects(
    request: Request,
    organization_id: str,
    principal: Annotated[Principal, Depends(requires_key("project:read"))],
) -> Response:
    """List the projects of an organization."""
    directory = AccessQueries(access_of(request), principal)
    return _project_page(request, await directory.projects(organization_id))


@router.get("/api/organizations/{organization_id}/projects/{project_id}")
@describe({200: ProjectObject})
async def read_organization_project(
    request: Request,
    organization_id: str,
    scope: Annotated[ProjectScope, Depends(requires("project:read"))],
) -> Response:
    """Get a project of an organization."""
    if organization_id not in {CURRENT, str(scope.project.organization_id)}:
        raise NotFound
    return await _project_answer(request, scope.project)


@router.get("/api/projects")
@describe({200: Page[TeamObject]}, query=PAGE)
async def list_projects(
    request: Request, principal: Annotated[Principal, Depends(requires_key("project:read"))]
) -> Response:
    """List the projects that the key can access."""
    return _project_page(request, await AccessQueries(access_of(request), principal).projects())


@router.get("/api/projects/{project_id}")
@describe({200: ProjectObject})
async def read_project(
    request: Request, scope: Annotated[ProjectScope, Depends(requires("project:read"))]
) -> Response:
    """Get a project."""
    return await _project_answer(request, scope.project)


@router.api_route("/api/projects/{project_id}", methods=["PATCH", "PUT"])
@describe({200: ProjectObject}, body=ProjectChanges)
async def update_project(
    request: Request, scope: Annotated[ProjectScope, Depends(requires("project:write"))]
) -> Response:
    """Change the name, time zone, app URLs or test account filters of a project."""
    changes = validate(ProjectChanges, await read_object(request))
    return await _project_answer(request, await change_project(access_of(request), scope, changes))


async def _project_answer(request: Request, project: Project) -> Response:
    group_types = await access_of(request).providers.group_types(project.id)
    return JsonResponse(project_object(project, group_types))


def _project_page(request: Request, projects: list[Project]) -> Response:
    page = parse_page(request.query_params)
    visible = projects[page.offset :][: page.limit]
    return JsonResponse(
        envelope(request, page, len(projects), [team_object(each) for each in visible])
    )
