"""The web application: middleware, error handlers, health routes, and the routers of features."""

from collections.abc import Mapping, Sequence
from functools import cache

import msgspec
from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from hoglet.web.cors import OpenCors
from hoglet.web.error_handlers import install
from hoglet.web.health import Check, Warnings, health_routes
from hoglet.web.request_body import (
    BODY_SECONDS,
    BUFFER_BYTES,
    DEFAULT_BODY_BYTES,
    BodyLimits,
    OpenRequests,
)
from hoglet.web.request_log import RequestLogMiddleware, RequestMetrics
from hoglet.web.response_compression import Compression
from hoglet.web.router import (
    PROJECT_PREFIX,
    Application,
    DeclaredRoute,
    HandlerRoute,
    PathNormalizer,
    Router,
    Shortcut,
    ShortcutLayer,
)
from hoglet.web.trusted_proxy import TrustedProxy


class ReadinessChecks(msgspec.Struct, frozen=True):
    """What ``/_readyz`` reports: checks by name, and warnings."""

    checks: Mapping[str, Check] = msgspec.field(default_factory=dict[str, Check])
    warnings: Warnings | None = None


class RequestPolicy(msgspec.Struct, frozen=True):
    """Limits of requests.

    Args:
        body_limit_bytes: largest accepted body.
        body_seconds: deadline for receiving a body.
        body_buffer_bytes: memory budget for all bodies being received or processed.
        trust_proxy: take the client's address from ``X-Forwarded-For``.
        log_requests: log every request; failures are always logged.
    """

    body_limit_bytes: int = DEFAULT_BODY_BYTES
    body_seconds: float = BODY_SECONDS
    body_buffer_bytes: int = BUFFER_BYTES
    trust_proxy: bool = False
    log_requests: bool = True


def create_application(
    *,
    project_routers: Sequence[Router] = (),
    routers: Sequence[Router] = (),
    routes: Sequence[BaseRoute] = (),
    readiness: ReadinessChecks = ReadinessChecks(),
    registry: CollectorRegistry | None = None,
    policy: RequestPolicy = RequestPolicy(),
    shortcut: Shortcut | None = None,
) -> Starlette:
    """Build the application.

    Args:
        project_routers: routers with paths below a project (``/hog_functions/{id}``), mounted under
            ``/api/projects/{project_id}`` and ``/api/environments/{project_id}``.
        routers: routers with absolute paths (``/api/users/@me``).
        routes: plain Starlette routes for hot paths; they are matched first.
        readiness: what ``/_readyz`` reports.
        registry: registry of metrics; a new one if omitted.
        policy: limits of requests.
        shortcut: answers some requests before they are routed.

    Paths are declared without a trailing slash (see ``hoglet.web.router``). Services are attributes
    of ``app.state``.
    """
    registry = registry or CollectorRegistry()
    open_requests = OpenRequests()
    app = Application(middleware=_middleware(registry, open_requests, policy, shortcut))
    app.router.redirect_slashes = False
    app.state.body_limit_bytes = policy.body_limit_bytes
    app.state.open_requests = open_requests
    app.state.registry = registry
    install(app)
    app.router.routes.extend(
        [*routes, *health_routes(readiness.checks, registry, readiness.warnings)]
    )
    for router in routers:
        _add(app, router, "")
    for router in project_routers:
        _add(app, router, PROJECT_PREFIX)
    return app


def _middleware(
    registry: CollectorRegistry,
    open_requests: OpenRequests,
    policy: RequestPolicy,
    shortcut: Shortcut | None,
) -> list[Middleware]:
    """The layers around the routes, outermost first."""
    return [
        Middleware(
            RequestLogMiddleware, metrics=RequestMetrics(registry), log_requests=policy.log_requests
        ),
        Middleware(
            BodyLimits,
            requests=open_requests,
            seconds=policy.body_seconds,
            buffer_bytes=policy.body_buffer_bytes,
        ),
        # After BodyLimits, which knows connections by their own address.
        *([Middleware(TrustedProxy)] if policy.trust_proxy else ()),
        Middleware(Compression),
        *(() if shortcut is None else (Middleware(ShortcutLayer, shortcut=shortcut),)),
        Middleware(PathNormalizer),
        Middleware(OpenCors),
    ]


def set_fallback(app: Starlette, fallback: ASGIApp, prefixes: tuple[str, ...]) -> None:
    """Let ``fallback`` (the console) serve requests that match no route.

    A mount at ``/`` would match everything and hide every 405. For unknown paths, API clients get
    the API's 404, and browsers (``Accept: text/html``) get the fallback.

    Args:
        app: the application.
        fallback: serves ``/``, all paths below ``prefixes``, and browsers outside ``/api``.
        prefixes: e.g. ``("/project/",)``.
    """

    async def default(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not _wants_console(scope, prefixes):
            raise HTTPException(404)
        await fallback(scope, receive, send)

    app.router.default = default


def _wants_console(scope: Scope, prefixes: tuple[str, ...]) -> bool:
    path: str = scope["path"]
    if path == "/" or path.startswith(prefixes):
        return True
    wants_page = "text/html" in Headers(scope=scope).get("accept", "")
    return wants_page and not path.startswith("/api")


def _add(app: Starlette, router: Router, prefix: str) -> None:
    """Add a router's routes to the application's own table.

    In one flat table, a later route that matches wins over an earlier 405, unlike with mounts.
    """
    app.router.routes.extend(_built(route, prefix) for route in router.routes)


@cache
def _built(route: DeclaredRoute, prefix: str) -> HandlerRoute:
    """Build a route once per process, even if tests create many applications."""
    path = prefix + route.path
    return HandlerRoute(path, route, _with_head(set(route.methods), path))


def _with_head(methods: set[str], path: str) -> set[str]:
    """Add HEAD to the API's GET routes.

    The server omits the body. Public routes get no HEAD, because it must not trigger a webhook.
    """
    is_safe = path.startswith("/api/") and "GET" in methods
    return methods | {"HEAD"} if is_safe else methods
