"""Route of the builds of an endpoint's tables."""

from typing import Annotated, Any, Literal

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.endpoints.container import services_of
from hoglet.endpoints.materialization.builds import count_builds, list_builds
from hoglet.endpoints.response_schemas import VERSION_PARAMETER
from hoglet.endpoints.run.request import read_version
from hoglet.endpoints.tables import BuildRow
from hoglet.kit.clock import iso_z, iso_z_or_none
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import PAGE, DocumentedResponse, Page, describe
from hoglet.web.pagination import DEFAULT_LIMIT, envelope, parse_page
from hoglet.web.router import Depends, Router

router = Router()

type Reader = Annotated[ProjectScope, Depends(requires("endpoint:read"))]


class Build(DocumentedResponse):
    """A build of a version's table; ``is_unchanged`` if the earlier table was up to date."""

    id: str
    version: int
    status: Literal["Running", "Completed", "Failed", "Cancelled"]
    error: str
    is_unchanged: bool
    started_at: str
    ended_at: str | None


@router.get("/endpoints/{name}/materialization_builds")
@describe({200: Page[Build]}, query=(*PAGE, VERSION_PARAMETER))
async def list_materialization_builds(request: Request, name: str, scope: Reader) -> Response:
    """List the builds of an endpoint's tables in the last 30 days, newest first.

    They are those of all versions, or of ``?version=`` (a number or an alias).
    """
    services, page = services_of(request), parse_page(request.query_params)
    version = await services.aliases.number(scope, name, read_version(request))
    endpoint = await services.service.read(scope, name, version)
    endpoint_id = endpoint.endpoint.id
    async with services.access.database.read() as session:
        count = await count_builds(session, endpoint_id, version)
        rows = await list_builds(
            session,
            endpoint_id,
            version,
            limit=page.limit or DEFAULT_LIMIT,
            offset=page.offset,
        )
    return JsonResponse(envelope(request, page, count, [_build(row) for row in rows]))


def _build(row: BuildRow) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "version": row.version,
        "status": row.status,
        "error": row.error,
        "is_unchanged": row.is_unchanged,
        "started_at": iso_z(row.started_at),
        "ended_at": iso_z_or_none(row.ended_at),
    }
