"""CORS: allowed on routes called by the browsers of visitors and tenants, denied elsewhere.

Source: docs/spec/hog-functions.md#14-capture (origin echoed, ``OPTIONS`` 204).
"""

import re
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PUBLIC_PREFIXES = (
    "/batch",
    "/i/v0",
    "/e",
    "/capture",
    "/track",
    "/engage",
    "/s",
    "/flags",
    "/decide",
    "/array",
    "/public",
    "/site_app",
    "/site_function",
    "/api/surveys",
    "/api/early_access_features",
    "/api/web_experiments",
    "/api/product_tours",
)
_RUN = re.compile(r"/api/projects/[^/]+/endpoints/[^/]+/run")
"""Endpoints that browsers run with tenant tokens. No credentials: keys are sent in a header."""
_ANY_ORIGIN = {"Access-Control-Allow-Origin": "*"}
EXPOSED = {
    **_ANY_ORIGIN,
    "Access-Control-Expose-Headers": "ETag, Link, Location, Retry-After, Hoglet-Next-Cursor",
}
PREFLIGHT_SECONDS = 86_400  # browsers apply their own maximum


class OpenCors:
    """ASGI middleware: echoes the origin on public paths and answers their preflight requests."""

    def __init__(self, app: ASGIApp, prefixes: tuple[str, ...] = PUBLIC_PREFIXES) -> None:
        self._app = app
        self._exact = frozenset(prefixes)
        self._inside = tuple(f"{prefix}/" for prefix in prefixes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "http" and _RUN.fullmatch(scope["path"]):
            await self._run(scope, receive, send)
            return
        if scope["type"] != "http" or not self._is_public(scope["path"]):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if scope["method"] == "OPTIONS":
            response = Response(status_code=204, headers=_preflight(headers))
            await response(scope, receive, send)
            return
        await self._app(scope, receive, _with_headers(send, _origin(headers.get("origin"))))

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Whether this is a run of an endpoint, or the preflight request for one."""
        headers = Headers(scope=scope) if scope["method"] == "OPTIONS" else {}
        if "access-control-request-method" in headers:
            allowed = {
                **_preflight(headers),
                **_ANY_ORIGIN,
                "Access-Control-Allow-Methods": "GET, POST",
            }
            allowed.pop("Access-Control-Allow-Credentials", None)
            await Response(status_code=204, headers=allowed)(scope, receive, send)
            return
        await self._app(scope, receive, _with_headers(send, EXPOSED))

    def _is_public(self, path: str) -> bool:
        return path in self._exact or path.startswith(self._inside)


def _with_headers(send: Send, headers: dict[str, str]) -> Send:
    """Add headers to the response, in place of those with the same names."""
    added = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    names = {name for name, _ in added}

    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            others = [each for each in message["headers"] if each[0] not in names]
            message["headers"] = [*others, *added]
        await send(message)

    return sender


def _origin(origin: str | None) -> dict[str, str]:
    if origin is None:
        return {"Access-Control-Allow-Origin": "*"}
    return {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Credentials": "true",
        "Vary": "Origin",
    }


def _preflight(headers: Mapping[str, str]) -> dict[str, str]:
    requested = headers.get("access-control-request-headers", "Content-Type, Authorization")
    return _origin(headers.get("origin")) | {
        "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
        "Access-Control-Allow-Headers": requested,
        "Access-Control-Max-Age": str(PREFLIGHT_SECONDS),
    }
