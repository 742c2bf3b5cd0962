"""All routes of the application, their OpenAPI document, and a page to browse it (``/docs``)."""

import inspect
import re
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry
from starlette.responses import Response
from starlette.routing import Route

from hoglet.app.http.routes import PROJECT_ROUTERS, ROUTERS, hot_routes
from hoglet.web.health import health_routes
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import DescribedRoute, build_document, describe, route_doc
from hoglet.web.router import PROJECT_PREFIX, DeclaredRoute, Router

PATH = "/api/schema"
_ROW = re.compile(r"^Row \d+[.:]\s*")
_PLAIN_SCOPES = {"/endpoints/{name}/run": "endpoint:read", "/query": "query:read"}
"""Scopes of plain routes, which check the key themselves, by the end of their path."""
_STATIC = Path(__file__).parent / "static"
_BROWSER_HEADERS = {
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}

router = Router()


@router.get(PATH)
@describe({200: {"type": "object"}})
async def read_schema() -> Response:
    """Get the OpenAPI document of the whole API."""
    return JsonResponse(api_document())


@router.get("/docs")
@describe({200: "text/html"})
async def read_api_browser() -> Response:
    """Browse the OpenAPI document."""
    return _browser_file("api-browser.html", "text/html")


@router.get("/docs/api-browser.js")
@describe({200: "text/javascript"})
async def read_api_browser_script() -> Response:
    """Get the script of ``/docs``."""
    return _browser_file("api-browser.js", "text/javascript")


@router.get("/docs/api-browser.css")
@describe({200: "text/css"})
async def read_api_browser_stylesheet() -> Response:
    """Get the stylesheet of ``/docs``."""
    return _browser_file("api-browser.css", "text/css")


def _browser_file(name: str, media_type: str) -> Response:
    return Response(_static(name), media_type=media_type, headers=_BROWSER_HEADERS)


@cache
def _static(name: str) -> bytes:
    return (_STATIC / name).read_bytes()


@cache
def api_document() -> dict[str, Any]:
    """The OpenAPI document, built on first use."""
    return build_document("hoglet", version("hoglet"), all_routes())


def all_routes() -> list[DescribedRoute]:
    """All routes, by path and method; the scope "any" means any key."""
    included = [
        _described(route.endpoint, prefix + route.path, method, _scope(route))
        for prefix, routers in (("", (*ROUTERS, router)), (PROJECT_PREFIX, PROJECT_ROUTERS))
        for each in routers
        for route in each.routes
        for method in route.methods
    ]
    plain = [
        _described(route.endpoint, route.path, method, _plain_scope(route.path))
        for route in (*hot_routes(), *health_routes({}, CollectorRegistry()))
        if isinstance(route, Route)
        for method in set(route.methods or ()) - {"HEAD"}
    ]
    return sorted(included + plain, key=lambda route: (route.path, route.method))


def _described(endpoint: Callable[..., Any], path: str, method: str, scope: str) -> DescribedRoute:
    return DescribedRoute(method, path, scope, _sentence(endpoint), route_doc(endpoint, method))


def _plain_scope(path: str) -> str:
    return next((scope for end, scope in _PLAIN_SCOPES.items() if path.endswith(end)), "")


def _scope(route: DeclaredRoute) -> str:
    for call in route.called():
        inner = inspect.getclosurevars(call).nonlocals
        if "scope" in inner:
            return str(inner["scope"] or "any")
    return ""


def _sentence(endpoint: Any) -> str:
    """The first line of the handler's docstring, or its name."""
    name: str = endpoint.__name__.replace("_", " ").capitalize() + "."
    first = _ROW.sub("", (endpoint.__doc__ or "").strip().split("\n")[0])
    text = (first or name).replace("``", "`")
    return text[0].upper() + text[1:]
