"""Routes of actions (docs/spec/hog-functions.md#15-bootstrap-routes)."""

from typing import Annotated

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.functions.actions.service import ActionObject, ActionService
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import PAGE, TEXT, Page, describe, json_object
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.router import Depends, Router

router = Router()

type Reads = Annotated[ProjectScope, Depends(requires("action:read"))]
type Writes = Annotated[ProjectScope, Depends(requires("action:write"))]


_ACTION_BODY = json_object(
    name=TEXT,
    description=TEXT,
    steps={"type": "array", "items": json_object(event={"type": ["string", "null"]})},
    deleted={"type": "boolean"},
)


def service_of(request: Request) -> ActionService:
    """The application's service of actions."""
    service: ActionService = request.app.state.actions
    return service


@router.get("/actions")
@describe({200: Page[ActionObject]}, query=PAGE)
async def list_actions(request: Request, scope: Reads) -> Response:
    """List the project's actions."""
    page = parse_page(request.query_params)
    count, visible = await service_of(request).page(scope, page)
    return JsonResponse(envelope(request, page, count, visible))


@router.post("/actions")
@describe({201: ActionObject}, body=_ACTION_BODY)
async def create_action(request: Request, scope: Writes) -> Response:
    """Create an action."""
    view = await service_of(request).create(scope, await read_object(request))
    return JsonResponse(view, status_code=201)


@router.get("/actions/{action_id}")
@describe({200: ActionObject})
async def get_action(request: Request, action_id: str, scope: Reads) -> Response:
    """Get an action."""
    return JsonResponse(await service_of(request).get(scope, action_id))


@router.api_route("/actions/{action_id}", methods=["PATCH", "PUT"])
@describe({200: ActionObject}, body=_ACTION_BODY)
async def update_action(request: Request, action_id: str, scope: Writes) -> Response:
    """Update an action."""
    body = await read_object(request)
    return JsonResponse(await service_of(request).update(scope, action_id, body))
