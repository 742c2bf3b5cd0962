"""Every route of the application, and ``/api/schema``: the OpenAPI document of the whole API."""

import inspect
import re
from functools import cache
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from prometheus_client import CollectorRegistry
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from hoglet.web.responses import JsonResponse

PATH = "/api/schema"
_ROW = re.compile(r"^Row \d+[.:]\s*")
_RUN = "/endpoints/{name}/run"  # a plain route: it asks for the key by itself


router = APIRouter()


@router.get(PATH)
async def read_schema() -> Response:
    """The OpenAPI document of the whole API."""
    return JsonResponse(api_document())


@cache
def api_document() -> dict[str, Any]:
    """The document; built when it is first asked for."""
    from hoglet.app.described import ABOUT
    from hoglet.web.openapi import DescribedRoute, RouteDoc, build_document

    routes = [
        DescribedRoute(
            method, path, scope, sentence, ABOUT.get((method, path), RouteDoc({200: {}}))
        )
        for path, method, scope, sentence in sorted(all_routes())
    ]
    return build_document("hoglet", version("hoglet"), routes)


def all_routes() -> list[tuple[str, str, str, str]]:
    """Path, method, scope and sentence of every route; the scope "any" is any key."""
    from hoglet.app.http import PROJECT_ROUTERS, ROUTERS, hot_routes
    from hoglet.web.health import health_routes
    from hoglet.web.paths import PROJECT_PREFIX

    found = [
        (prefix + route.path, method, _scope(route), _sentence(route.endpoint))
        for prefix, routers in (("", ROUTERS), (PROJECT_PREFIX, PROJECT_ROUTERS))
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    ]
    plain = [*hot_routes(), *health_routes({}, CollectorRegistry())]
    return found + [row for route in plain for row in _plain_rows(route)]


def _plain_rows(route: BaseRoute) -> list[tuple[str, str, str, str]]:
    if not isinstance(route, Route):
        return []
    scope = "endpoint:read" if route.path.endswith(_RUN) else ""
    methods = set(route.methods or ()) - {"HEAD"}
    return [(route.path, method, scope, _sentence(route.endpoint)) for method in methods]


def _scope(route: APIRoute) -> str:
    for dependency in route.dependant.dependencies:
        if dependency.call is not None:
            inner = inspect.getclosurevars(dependency.call).nonlocals
            if "scope" in inner:
                return str(inner["scope"] or "any")
    return ""


def _sentence(endpoint: Any) -> str:
    """The first line of what is said about it, or its name."""
    name: str = endpoint.__name__.replace("_", " ").capitalize() + "."
    first = _ROW.sub("", (endpoint.__doc__ or "").strip().split("\n")[0])
    text = (first or name).replace("``", "`")
    return text[0].upper() + text[1:]
