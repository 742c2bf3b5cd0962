"""Routes of a feature, declared beside their handlers: their paths, arguments and responses.

A handler declares what it needs as parameters: the request, path parameters, and the results of
dependencies, which run first, in order::

    @router.get("/cohorts/{cohort_id}")
    async def read_cohort(
        request: Request, cohort_id: str, scope: Annotated[Scope, Depends(requires("cohort:read"))]
    ) -> Response: ...

It responds with a :class:`hoglet.web.json_response.JsonResponse`.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAliasType, get_args, override

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route, request_response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hoglet.kit.errors import HogletError, NotFound
from hoglet.web.error_handlers import problem
from hoglet.web.pagination import ORIGINAL_PATH

PROJECT_PREFIX = "/api/projects/{project_id}"
_PAGES = "/project/"
CLIENT_CLOSED_REQUEST = 499
_LISTEN_AFTER_SECONDS = 0.01
_ENVIRONMENTS = "/api/environments"
_PROJECTS = "/api/projects"
_UNTOUCHED = ("/_nicegui",)  # the console's websocket transport needs its slashes
type Dependency = Callable[[Request], Awaitable[Any]]
type Handler = Callable[..., Awaitable[Response]]


class Application(Starlette):
    """Without Starlette's outermost layer: the request log answers unexpected errors."""

    @override
    def build_middleware_stack(self) -> ASGIApp:
        outermost: Any = super().build_middleware_stack()
        return outermost.app


class PathNormalizer:
    """ASGI middleware that rewrites ``scope["path"]``, so that one route matches all spellings.

    A path with a null character is answered with 404: nothing has such a name, and PostgreSQL
    refuses to look for it. Pages of the console say it themselves.

    ``/api/environments/...`` becomes ``/api/projects/...``, and a trailing slash is dropped. There
    are no redirects, because clients lose bodies and headers on redirects. The original path stays
    in the scope for building page URLs.

    Rejected: registering each route four times. Starlette tries routes in order, so a table four
    times as long would slow down every request.

    Source: docs/spec/hog-functions.md#1-routes-and-common-rules.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "http":
            path: str = scope["path"]
            if "\x00" in path and not path.startswith(_PAGES):
                await problem(NotFound())(scope, receive, send)
                return
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


class Answer(NamedTuple):
    """A complete response: the message that starts it, and the body."""

    start: Message
    body: bytes


class Shortcut(msgspec.Struct, frozen=True):
    """How to answer requests before they are routed.

    Attributes:
        paths: ends of the paths to which it applies.
        answer: the response, or None for a request that is to be routed.
    """

    paths: tuple[str, ...]
    answer: Callable[[Scope, Receive], Awaitable[Answer | None]]


class ShortcutLayer:
    """ASGI middleware that tries a shortcut first.

    It stands inside the layers that limit, compress and log, and outside of the routes.
    """

    def __init__(self, app: ASGIApp, shortcut: Shortcut) -> None:
        self._app = app
        self._paths = shortcut.paths
        self._answer = shortcut.answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http" or not scope["path"].endswith(self._paths):
            await self._app(scope, receive, send)
            return
        answer = await self._answer(scope, receive)
        if answer is None:
            await self._app(scope, receive, send)
            return
        await send(answer.start)
        await send({"type": "http.response.body", "body": answer.body})


class Depends(msgspec.Struct, frozen=True):
    """In ``Annotated[T, Depends(dependency)]``: the parameter is ``await dependency(request)``."""

    dependency: Dependency


class HandlerArguments(NamedTuple):
    """Sources of a handler's arguments: names of path parameters, and dependencies by name."""

    requests: tuple[str, ...]
    path: tuple[str, ...]
    dependencies: tuple[tuple[str, Dependency], ...]


class DeclaredRoute(NamedTuple):
    """A path, its handler and the methods, e.g. ``("/cohorts", list_cohorts, ("GET",), ())``."""

    path: str
    endpoint: Handler
    methods: tuple[str, ...]
    dependencies: tuple[Depends, ...]

    def called(self) -> list[Dependency]:
        """The dependencies called before the handler, e.g. a check of scopes."""
        named = arguments_of(self.endpoint).dependencies
        return [*(item.dependency for item in self.dependencies), *(call for _, call in named)]


class Router:
    """Collects the routes of a feature in the order in which they are declared."""

    def __init__(self) -> None:
        self.routes: list[DeclaredRoute] = []

    def get[F: Handler](
        self, path: str, *, dependencies: Sequence[Depends] = ()
    ) -> Callable[[F], F]:
        """Declare a GET route."""
        return self.api_route(path, methods=["GET"], dependencies=dependencies)

    def post[F: Handler](
        self, path: str, *, dependencies: Sequence[Depends] = ()
    ) -> Callable[[F], F]:
        """Declare a POST route."""
        return self.api_route(path, methods=["POST"], dependencies=dependencies)

    def patch[F: Handler](self, path: str) -> Callable[[F], F]:
        """Declare a PATCH route."""
        return self.api_route(path, methods=["PATCH"])

    def put[F: Handler](self, path: str) -> Callable[[F], F]:
        """Declare a PUT route."""
        return self.api_route(path, methods=["PUT"])

    def delete[F: Handler](self, path: str) -> Callable[[F], F]:
        """Declare a DELETE route."""
        return self.api_route(path, methods=["DELETE"])

    def api_route[F: Handler](
        self, path: str, *, methods: Sequence[str], dependencies: Sequence[Depends] = ()
    ) -> Callable[[F], F]:
        """Declare a route for several methods."""

        def declare(endpoint: F) -> F:
            route = DeclaredRoute(path, endpoint, tuple(methods), tuple(dependencies))
            self.routes.append(route)
            return endpoint

        return declare


class HandlerRoute(Route):
    """A declared route in an application.

    Args:
        path: the complete path, with parameters in braces.
        declared: the handler and its dependencies.
        methods: only these methods; unlike Starlette, HEAD is not added to GET, because HEAD must
            not trigger a webhook.
    """

    def __init__(self, path: str, declared: DeclaredRoute, methods: set[str]) -> None:
        super().__init__(path, declared.endpoint, methods=methods)
        self.methods = methods
        self.app = request_response(self._respond)
        self._declared = declared

    @override
    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        if match is not Match.NONE:
            child["route"] = self  # for metrics and traces
        return match, child

    async def _respond(self, request: Request) -> Response:
        for item in self._declared.dependencies:
            await item.dependency(request)
        arguments = self._arguments
        values: dict[str, Any] = {name: request.path_params[name] for name in arguments.path}
        values.update(dict.fromkeys(arguments.requests, request))
        for name, dependency in arguments.dependencies:
            values[name] = await dependency(request)
        return await self.endpoint(**values)

    @cached_property
    def _arguments(self) -> HandlerArguments:
        return arguments_of(self._declared.endpoint)


def arguments_of(endpoint: Handler) -> HandlerArguments:
    """Read the signature of a handler.

    Raises:
        TypeError: a parameter is neither the request nor text nor a dependency.
    """
    requests: list[str] = []
    path: list[str] = []
    dependencies: list[tuple[str, Dependency]] = []
    for name, parameter in inspect.signature(endpoint).parameters.items():
        annotation = parameter.annotation
        if isinstance(annotation, TypeAliasType):
            annotation = annotation.__value__
        dependencies_of = [each for each in get_args(annotation) if isinstance(each, Depends)]
        if dependencies_of:
            dependencies.append((name, dependencies_of[0].dependency))
        elif annotation is Request:
            requests.append(name)
        elif annotation is str:
            path.append(name)
        else:
            raise TypeError(f"{endpoint.__qualname__}: {name} is no argument of a handler")
    return HandlerArguments(tuple(requests), tuple(path), tuple(dependencies))


async def unless_disconnected[T](receive: Receive, work: Coroutine[Any, Any, T]) -> T | None:
    """Do the work; cancel it and return None if the client disconnects."""
    watch = _DisconnectWatch(receive)
    try:
        outcome = await work
    except (asyncio.CancelledError, HogletError):
        if not watch.has_cancelled():
            raise
        return None
    finally:
        watch.end()
    return None if watch.has_cancelled() else outcome


class _DisconnectWatch:
    """Cancels the current task if the client disconnects, as a timeout does when it expires.

    It begins to listen after ``_LISTEN_AFTER_SECONDS``, because most runs have ended by then.
    """

    def __init__(self, receive: Receive) -> None:
        task = asyncio.current_task()
        assert task is not None, "requests are handled in tasks"  # noqa: S101 (of asyncio)
        self._task = task
        self._receive = receive
        self._cancelling = task.cancelling()
        self._is_gone = False
        self._listener: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(_LISTEN_AFTER_SECONDS, self._listen)

    def has_cancelled(self) -> bool:
        """Whether the task was cancelled by this watch only; takes the cancellation back."""
        return self._is_gone and self._task.uncancel() <= self._cancelling

    def end(self) -> None:
        """Stop listening."""
        self._timer.cancel()
        if self._listener is not None:
            self._listener.cancel()

    def _listen(self) -> None:
        self._listener = asyncio.ensure_future(self._cancel_when_gone())

    async def _cancel_when_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._is_gone = True
        self._task.cancel()
