"""Route of an endpoint's usage."""

from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import requires
from hoglet.access.principals import ProjectScope
from hoglet.endpoints.container import services_of
from hoglet.endpoints.response_schemas import VERSION_PARAMETER
from hoglet.endpoints.run.request import read_number, read_version
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import DocumentedResponse, describe, number
from hoglet.web.router import Depends, Router

router = Router()

type Reader = Annotated[ProjectScope, Depends(requires("endpoint:read"))]


class Figures(DocumentedResponse):
    """Usage figures; shares are of successful runs, null without any."""

    count: int
    errors: int
    p50_ms: int | None
    p95_ms: int | None
    cache_hit_share: float | None
    materialized_share: float | None
    rows: int
    rows_read: int
    bytes_read: int


class DayFigures(Figures):
    """Usage figures of a day in the project's time zone."""

    day: str


class UsageAnswer(Figures):
    """Usage of an endpoint in total and by day; ``version`` if requested."""

    name: str
    version: int = Field(default=0)
    after: str
    before: str
    days: list[DayFigures]


@router.get("/endpoints/{name}/usage")
@describe({200: UsageAnswer}, query=(number("days", minimum=1, maximum=366), VERSION_PARAMETER))
async def read_usage(request: Request, name: str, scope: Reader) -> Response:
    """Get the usage of an endpoint by day, in the project's time zone.

    Usage is that of all versions, or of ``?version=`` (a number or an alias).
    """
    services, days = services_of(request), read_number(request, "days", least=1)
    version = await services.aliases.number(scope, name, read_version(request))
    return JsonResponse(await services.usage.of(scope, name, days, version))
