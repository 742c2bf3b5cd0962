"""Routes of endpoints, except runs (``run/api.py``).

Source: docs/spec/query-endpoints.md#1-routes.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import UUID

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hoglet.access import repository as people
from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope, User
from hoglet.endpoints import serializers as records
from hoglet.endpoints.container import EndpointServices, services_of, urls_of
from hoglet.endpoints.enums import is_name
from hoglet.endpoints.repository import FoundEndpoint, ListFilters, Names
from hoglet.endpoints.response_schemas import (
    VERSION_PARAMETER,
    ChangedRecord,
    Deleted,
    LastExecutions,
    NamedEligible,
    NamedMaterialized,
    Preview,
    Record,
    Version,
)
from hoglet.endpoints.run.request import read_version, version_of
from hoglet.endpoints.schemas import (
    CreateBody,
    NamesBody,
    PreviewBody,
    UpdateBody,
    read,
)
from hoglet.kit.errors import Invalid, NotFound
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import PAGE, Page, describe, flag, number
from hoglet.web.pagination import PageRequest, envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.router import Depends, Router
from hoglet.web.validation import NOT_BOOLEAN

router = Router()

type Reader = Annotated[ProjectScope, Depends(requires("endpoint:read"))]
type Writer = Annotated[ProjectScope, Depends(requires("endpoint:write"))]

_COLLECTION = "/endpoints"
_ENDPOINT = "/endpoints/{name}"


@router.get(_COLLECTION)
@describe({200: Page[Record]}, query=(*PAGE, flag("is_active"), number("created_by")))
async def list_endpoints(request: Request, scope: Reader) -> Response:
    """List endpoints, newest first."""
    services, page = (
        services_of(request),
        parse_page(request.query_params, default=None, maximum=None),
    )
    filters = await _list_filters(request, services, page)
    count, endpoints = await services.service.page(scope, filters)
    await _show_current(services, scope, endpoints)
    users = await _users(services, endpoints)
    urls = urls_of(request, scope)
    aliases = await services.aliases.of([each.endpoint.id for each in endpoints])
    results = [
        records.endpoint_record(each, users, urls, aliases.get(each.endpoint.id))
        for each in endpoints
    ]
    return JsonResponse(envelope(request, page, count, results))


@router.post(_COLLECTION)
@describe({201: Record}, body=CreateBody)
async def create_endpoint(request: Request, scope: Writer) -> Response:
    """Create an endpoint."""
    services = services_of(request)
    body = read(CreateBody, await read_object(request))
    stored = await services.service.create(scope, body)
    services.forget()
    return await _record(request, scope, stored, status=201)


@router.post("/endpoints/last_execution_times")
@describe({200: LastExecutions}, body=NamesBody)
async def last_execution_times(request: Request, scope: Reader) -> Response:
    """Get when endpoints were last run."""
    services = services_of(request)
    names = _names(await read_object(request))
    await services.query_log.flush_executions()
    results = await services.service.last_executions(scope, names) if names else None
    return JsonResponse({"query_status": _executions_status(scope.project.id, results)})


@router.get(_ENDPOINT)
@describe({200: (Record, Version)}, query=(VERSION_PARAMETER,))
async def read_endpoint(request: Request, name: str, scope: Reader) -> Response:
    """Get an endpoint; ``?version=`` selects a version."""
    services = services_of(request)
    number = await _asked_version(request, scope, name)
    await services.query_log.flush_executions()
    if number is not None:
        return await _version(request, scope, name, number)
    stored = await services.service.read(scope, name)
    return await _record(request, scope, await services.analyses.show(scope.project, stored))


@router.patch(_ENDPOINT)
@router.put(_ENDPOINT)
@describe({200: (ChangedRecord, Version, Deleted)}, body=UpdateBody, query=(VERSION_PARAMETER,))
async def update_endpoint(request: Request, name: str, scope: Writer) -> Response:
    """Update an endpoint; a changed query creates a version."""
    services = services_of(request)
    await services.service.read(scope, name)
    body = read(UpdateBody, await read_object(request))
    target = await _asked_version(request, scope, name, body.version)
    if body.deleted:
        await services.service.delete(scope, name)
        services.forget()
        return JsonResponse({"success": True})
    changed = await services.service.update(scope, name, body, target)
    services.forget()
    if changed.targeted:
        return await _version(request, scope, name, changed.stored.version.number)
    problem = changed.materialization_error
    extra = {} if problem is None else {"materialization_error": problem}
    return await _record(request, scope, changed.stored, extra=extra)


@router.delete(_ENDPOINT)
@describe({204: None})
async def delete_endpoint(request: Request, name: str, scope: Writer) -> Response:
    """Delete an endpoint; its name becomes available again."""
    services = services_of(request)
    await services.service.delete(scope, name)
    services.forget()
    return Response(status_code=204)


@router.get("/endpoints/{name}/materialization_status")
@describe({200: (NamedEligible, NamedMaterialized)}, query=(VERSION_PARAMETER,))
async def materialization_status(request: Request, name: str, scope: Reader) -> Response:
    """Get the materialization status of an endpoint."""
    number = await _asked_version(request, scope, name)
    services = services_of(request)
    stored = await services.service.read(scope, name, number)
    stored = await services.analyses.show(scope.project, stored)
    status = records.status_object(stored.version, stored.materialization)
    return JsonResponse(status | {"name": stored.endpoint.name})


@router.post("/endpoints/{name}/materialization_preview")
@describe({200: Preview}, body=PreviewBody)
async def materialization_preview(request: Request, name: str, scope: Reader) -> Response:
    """Preview how a query would be materialized."""
    services = services_of(request)
    await services.service.read(scope, name)
    body = read(PreviewBody, await read_object(request))
    number = await _asked_version(request, scope, name, body.version)
    stored = await services.service.read(scope, name, number)
    version = stored.version
    buckets = body.bucket_overrides or version.bucket_overrides
    table = f"{stored.endpoint.name}_v{version.number}"
    preview = await services.analyzer.preview(scope.project, version.query, buckets, table)
    return JsonResponse(msgspec.to_builtins(preview))


@router.get("/endpoints/{name}/versions")
@describe({200: Page[Version]}, query=PAGE)
async def list_versions(request: Request, name: str, scope: Reader) -> Response:
    """List the versions of an endpoint, newest first."""
    services, page = (
        services_of(request),
        parse_page(request.query_params, default=None, maximum=None),
    )
    await services.query_log.flush_executions()
    current, versions = await services.service.versions(
        scope, name, limit=page.limit, offset=page.offset
    )
    await _show_current(services, scope, versions)
    users, urls = await _users(services, versions), urls_of(request, scope)
    aliases = await _aliases(services, current.endpoint_id)
    results = [records.version_record(each, current, users, urls, aliases) for each in versions]
    return JsonResponse(envelope(request, page, current.number, results))


@router.get("/endpoints/{name}/versions/{version_number}")
@describe({200: Version})
async def read_one_version(
    request: Request, name: str, version_number: str, scope: Reader
) -> Response:
    """Get a version of an endpoint."""
    services = services_of(request)
    await services.service.read(scope, name)
    version = version_of(version_number)
    if isinstance(version, str):
        aliases = {row.alias: row.version for row in await services.aliases.all(scope, name)}
        version = aliases.get(version)
    if version is None:
        raise NotFound
    return await _version(request, scope, name, version)


async def _list_filters(
    request: Request, services: EndpointServices, page: PageRequest
) -> ListFilters:
    created_by = request.query_params.get("created_by")
    return ListFilters(
        is_active=_flag(request.query_params.get("is_active")),
        created_by_id=await _creator(services, created_by) if created_by else None,
        limit=page.limit,
        offset=page.offset,
    )


def _flag(text: str | None) -> bool | None:
    if text is None or not text.strip():
        return None
    match text.strip().lower():
        case "true" | "1":
            return True
        case "false" | "0":
            return False
        case _:
            raise Invalid(NOT_BOOLEAN, attr="is_active")


async def _creator(services: EndpointServices, text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    async with services.database.read() as session:
        known = await people.users_by_id(session, [number])
    if number not in known:
        raise Invalid(
            f"Select a valid choice. {text} is not one of the known users.",
            code="invalid_choice",
            attr="created_by",
        )
    return number


async def _record(
    request: Request,
    scope: ProjectScope,
    stored: FoundEndpoint,
    *,
    status: int = 200,
    extra: Mapping[str, Any] | None = None,
) -> Response:
    services = services_of(request)
    users, aliases = await _users(services, [stored]), await _aliases(services, stored.endpoint.id)
    record = records.endpoint_record(stored, users, urls_of(request, scope), aliases)
    return JsonResponse(record | dict(extra or {}), status_code=status)


async def _version(request: Request, scope: ProjectScope, name: str, number: int) -> Response:
    services = services_of(request)
    stored, current = await services.service.read_with_current(scope, name, number)
    stored = await services.analyses.show(scope.project, stored)
    users, aliases = await _users(services, [stored]), await _aliases(services, stored.endpoint.id)
    urls = urls_of(request, scope)
    return JsonResponse(records.version_record(stored, current, users, urls, aliases))


async def _show_current(
    services: EndpointServices, scope: ProjectScope, endpoints: Sequence[FoundEndpoint]
) -> None:
    """Analyze again the versions that were invalid when saved; they may be valid by now."""
    for each in endpoints:
        if records.is_invalid(each.version):
            await services.analyses.show(scope.project, each)


async def _asked_version(
    request: Request, scope: ProjectScope, name: str, sent: int | str | None = None
) -> int | None:
    """The version number in the body or, with lower precedence, the query string."""
    version = sent if sent is not None else read_version(request)
    return await services_of(request).aliases.number(scope, name, version)


async def _aliases(services: EndpointServices, endpoint_id: UUID) -> Names | None:
    return (await services.aliases.of([endpoint_id])).get(endpoint_id)


async def _users(
    services: EndpointServices, endpoints: Sequence[FoundEndpoint]
) -> Mapping[int, User]:
    ids = [each.endpoint.created_by_id for each in endpoints]
    ids += [each.version.created_by_id for each in endpoints]
    async with services.database.read() as session:
        return await people.users_by_id(session, ids)


def _names(data: Mapping[str, Any]) -> list[str]:
    try:
        names = read(NamesBody, data).names
    except Invalid as error:
        if (error.attr or "").startswith("names"):
            error.attr = "names"
        raise
    for name in names:
        if not is_name(name):
            raise Invalid(f'"{name}" is not a valid endpoint name.', attr="names")
    return names


def _executions_status(project_id: int, results: list[list[str]] | None) -> dict[str, Any]:
    return {
        "id": "",
        "query_async": True,
        "team_id": project_id,
        "complete": True,
        "error": False,
        "error_message": None,
        "results": results,
        "start_time": None,
        "end_time": None,
        "expiration_time": None,
        "pickup_time": None,
        "task_id": None,
        "insight_id": None,
        "dashboard_id": None,
        "query_progress": None,
        "labels": None,
    }
