"""The route of an endpoint's usage (issue 5)."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.entities import Scope
from hoglet.access.guard import requires
from hoglet.endpoints.queries import read_number
from hoglet.endpoints.rooms import rooms_of
from hoglet.web.answers import JsonAnswer

router = APIRouter()

type Reader = Annotated[Scope, Depends(requires("endpoint:read"))]


@router.get("/endpoints/{name}/usage")
async def read_usage(request: Request, name: str, scope: Reader) -> Response:
    """The last ``days`` days (30), today included, in the project's time zone."""
    days = read_number(request, "days", least=1)
    return JsonAnswer(await rooms_of(request).usage.of(scope, name, days))
