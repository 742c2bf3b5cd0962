"""Normalizes paths before routing, so that one route table serves all spellings.

``/api/environments/...`` becomes ``/api/projects/...``, and a trailing slash is dropped. No
redirects: clients lose bodies and headers on redirects. The original path stays in the scope for
building page URLs.

Rejected: registering each route four times. Starlette tries routes in order, so a table four times
as long would slow down every request.

Source: docs/spec/hog-functions.md#1-routes-and-common-rules.
"""

from starlette.types import ASGIApp, Receive, Scope, Send

from hoglet.web.pagination import ORIGINAL_PATH

PROJECT_PREFIX = "/api/projects/{project_id}"
_ENVIRONMENTS = "/api/environments"
_PROJECTS = "/api/projects"
_UNTOUCHED = ("/_nicegui",)  # the console's websocket transport needs its slashes


class PathNormalizer:
    """ASGI middleware that rewrites ``scope["path"]``."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "http":
            path: str = scope["path"]
            spelled = normalize_path(path)
            if spelled != path:
                scope[ORIGINAL_PATH] = path
                scope["path"] = spelled
                scope["raw_path"] = spelled.encode()
        await self._app(scope, receive, send)


def normalize_path(path: str) -> str:
    """The path used for routing.

    Example:
        >>> normalize_path("/api/environments/1/endpoints/")
        '/api/projects/1/endpoints'
    """
    if path.startswith(_UNTOUCHED):
        return path
    if path.endswith("/") and path != "/":
        path = path[:-1] or "/"
    if path == _ENVIRONMENTS or path.startswith(_ENVIRONMENTS + "/"):
        return _PROJECTS + path[len(_ENVIRONMENTS) :]
    return path
