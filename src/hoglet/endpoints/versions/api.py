"""Routes of aliases and version diffs.

Source: docs/adr/0010-aliases-of-versions.md.
"""

from typing import Annotated, Any

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.endpoints.container import services_of
from hoglet.endpoints.run.request import version_of
from hoglet.endpoints.schemas import AliasBody, read
from hoglet.endpoints.tables import EndpointAliasRow
from hoglet.endpoints.versions.diff import difference
from hoglet.kit.clock import iso_z
from hoglet.kit.errors import NotFound
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import DocumentedResponse, Page, describe
from hoglet.web.request_body import read_object
from hoglet.web.router import Depends, Router

router = Router()

type Reader = Annotated[ProjectScope, Depends(requires("endpoint:read"))]
type Writer = Annotated[ProjectScope, Depends(requires("endpoint:write"))]

_ALIAS = "/endpoints/{name}/aliases/{alias}"


class VersionAlias(DocumentedResponse):
    """A movable name of a version."""

    alias: str
    version: int
    created_at: str
    updated_at: str


class Change(DocumentedResponse):
    """A field that differs between two versions."""

    field: str
    a: Any
    b: Any


class Difference(DocumentedResponse):
    """The difference between two versions; the queries as a unified diff."""

    a: int
    b: int
    query_diff: str
    changes: list[Change]


@router.get("/endpoints/{name}/versions/{a}/diff/{b}")
@describe({200: Difference})
async def diff_versions(request: Request, name: str, a: str, b: str, scope: Reader) -> Response:
    """Compare two versions: a unified diff of the queries, and the changed fields."""
    services = services_of(request)
    compared = [
        await services.service.read(scope, name, await _number(request, scope, name, each))
        for each in (a, b)
    ]
    return JsonResponse(difference(*compared))


@router.get("/endpoints/{name}/aliases")
@describe({200: Page[VersionAlias]})
async def list_aliases(request: Request, name: str, scope: Reader) -> Response:
    """List the aliases of an endpoint."""
    results = [_display(row) for row in await services_of(request).aliases.all(scope, name)]
    return JsonResponse({"count": len(results), "next": None, "previous": None, "results": results})


@router.put(_ALIAS)
@router.patch(_ALIAS)
@describe({200: VersionAlias, 201: VersionAlias}, body=AliasBody)
async def put_alias(request: Request, name: str, alias: str, scope: Writer) -> Response:
    """Create (201) or move (200) an alias; runs that use it switch at once."""
    services = services_of(request)
    body = read(AliasBody, await read_object(request))
    number = await services.aliases.number(scope, name, body.version)
    row, is_new = await services.aliases.put(scope, name, alias, number or 0)
    services.forget()
    return JsonResponse(_display(row), status_code=201 if is_new else 200)


@router.delete(_ALIAS)
@describe({204: None})
async def delete_alias(request: Request, name: str, alias: str, scope: Writer) -> Response:
    """Delete an alias; its version stays."""
    services = services_of(request)
    await services.aliases.delete(scope, name, alias)
    services.forget()
    return Response(status_code=204)


async def _number(request: Request, scope: ProjectScope, name: str, text: str) -> int:
    version = version_of(text)
    if isinstance(version, str):
        known = {
            row.alias: row.version for row in await services_of(request).aliases.all(scope, name)
        }
        version = known.get(version)
    if version is None:
        raise NotFound
    return version


def _display(row: EndpointAliasRow) -> dict[str, Any]:
    return {
        "alias": row.alias,
        "version": row.version,
        "created_at": iso_z(row.created_at),
        "updated_at": iso_z(row.updated_at),
    }
