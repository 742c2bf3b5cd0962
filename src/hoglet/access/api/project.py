"""Routes below a project: variables, the activity log, the file tree.

Source: docs/spec/hog-functions.md#15-bootstrap-routes.
"""

from typing import Annotated, TypedDict

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access import variables
from hoglet.access.activity import page_of_activities
from hoglet.access.auth import access_of, requires
from hoglet.access.hooks import FileEntry
from hoglet.access.principals import ProjectScope
from hoglet.access.schemas import ActivityObject, NewVariable, VariableChanges, VariableObject
from hoglet.kit.clock import iso_z
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import PAGE, Page, describe, extensible, text
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.router import Depends, Router
from hoglet.web.validation import validate

router = Router()

VariableReader = Annotated[ProjectScope, Depends(requires("insight_variable:read"))]
VariableWriter = Annotated[ProjectScope, Depends(requires("insight_variable:write"))]


@extensible
class FileObject(TypedDict):
    """An entry in the file tree."""

    id: str
    path: str
    type: str
    ref: str
    href: str | None
    created_at: str


@router.get("/insight_variables")
@describe({200: Page[VariableObject]}, query=PAGE)
async def list_variables(request: Request, scope: VariableReader) -> Response:
    """List the project's variables."""
    page = parse_page(request.query_params)
    async with access_of(request).database.read() as session:
        count = await variables.count_variables(session, scope.project.id)
        variable_rows = await variables.list_variables(
            session, scope.project.id, limit=page.limit, offset=page.offset
        )
    return JsonResponse(envelope(request, page, count, [_variable(each) for each in variable_rows]))


@router.post("/insight_variables")
@describe({201: VariableObject}, body=NewVariable)
async def create_variable(request: Request, scope: VariableWriter) -> Response:
    """Create a variable."""
    body = validate(NewVariable, await read_object(request))
    access = access_of(request)
    async with access.database.write() as session:
        created = await variables.create_variable(session, access.clock, scope, body)
    access.forget()
    return JsonResponse(_variable(created), status_code=201)


@router.get("/insight_variables/{variable_id}")
@describe({200: VariableObject})
async def read_variable(request: Request, variable_id: str, scope: VariableReader) -> Response:
    """Get a variable."""
    async with access_of(request).database.read() as session:
        variable = await variables.get_variable(session, scope.project.id, variable_id)
    return JsonResponse(_variable(variable))


@router.api_route("/insight_variables/{variable_id}", methods=["PATCH", "PUT"])
@describe({200: VariableObject}, body=VariableChanges)
async def update_variable(request: Request, variable_id: str, scope: VariableWriter) -> Response:
    """Change a variable; its code name does not change."""
    body = validate(VariableChanges, await read_object(request))
    access = access_of(request)
    async with access.database.write() as session:
        changed = await variables.change_variable(session, scope, variable_id, body)
    access.forget()
    return JsonResponse(_variable(changed))


@router.delete("/insight_variables/{variable_id}")
@describe({204: None})
async def delete_variable(request: Request, variable_id: str, scope: VariableWriter) -> Response:
    """Delete a variable."""
    access = access_of(request)
    async with access.database.write() as session:
        await variables.delete_variable(session, scope, variable_id)
    access.forget()
    return Response(status_code=204)


@router.get("/activity_log")
@describe(
    {200: Page[ActivityObject]},
    query=(*PAGE, text("scope", "e.g. HogFunction"), text("item_id")),
)
async def list_activity(
    request: Request, scope: Annotated[ProjectScope, Depends(requires("activity_log:read"))]
) -> Response:
    """List activity, newest first; filter with ``?scope=HogFunction&item_id=``."""
    page = parse_page(request.query_params)
    item_scope = request.query_params.get("scope") or None
    item_id = request.query_params.get("item_id") or None
    async with access_of(request).database.read() as session:
        count, results = await page_of_activities(
            session, scope.project.id, scope=item_scope, item_id=item_id, page=page
        )
    return JsonResponse(envelope(request, page, count, results))


@router.get("/file_system")
@describe({200: Page[FileObject]}, query=(*PAGE, text("type"), text("ref"), text("search")))
async def list_files(
    request: Request, scope: Annotated[ProjectScope, Depends(requires("file_system:read"))]
) -> Response:
    """List the project's objects as paths; filter with ``?type=``, ``?ref=`` and ``?search=``."""
    page = parse_page(request.query_params)
    files: list[FileEntry] = []
    for entries in access_of(request).providers.file_entries:
        files += await entries(scope.project.id)
    matching = sorted((each for each in files if _is_match(each, request)), key=lambda e: e.path)
    visible = matching[page.offset :][: page.limit]
    return JsonResponse(envelope(request, page, len(matching), [_file(entry) for entry in visible]))


def _is_match(entry: FileEntry, request: Request) -> bool:
    query = request.query_params
    return (
        query.get("type", entry.type) == entry.type
        and query.get("ref", entry.ref) == entry.ref
        and query.get("search", "").lower() in entry.path.lower()
    )


def _variable(variable: variables.InsightVariable) -> VariableObject:
    return {
        "id": str(variable.id),
        "name": variable.name,
        "type": variable.type,
        "default_value": variable.default_value,
        "code_name": variable.code_name,
        "values": variable.values,
        "is_multi": variable.is_multi,
        "created_by": variable.created_by_id,
        "created_at": iso_z(variable.created_at),
    }


def _file(entry: FileEntry) -> FileObject:
    return {
        "id": entry.id,
        "path": entry.path,
        "type": entry.type,
        "ref": entry.ref,
        "href": entry.href,
        "created_at": iso_z(entry.created_at),
    }
