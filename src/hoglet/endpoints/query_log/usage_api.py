"""Route of an endpoint's usage."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.endpoints.run.query_params import read_number, read_version
from hoglet.endpoints.services import services_of
from hoglet.web.responses import JsonResponse

router = APIRouter()

type Reader = Annotated[ProjectScope, Depends(requires("endpoint:read"))]


@router.get("/endpoints/{name}/usage")
async def read_usage(request: Request, name: str, scope: Reader) -> Response:
    """The last ``days`` days (30), today included, in the project's time zone.

    Of all versions, or of ``?version=`` (a number or an alias) alone.
    """
    rooms, days = services_of(request), read_number(request, "days", least=1)
    version = await rooms.aliases.number(scope, name, read_version(request))
    return JsonResponse(await rooms.usage.of(scope, name, days, version))
