"""The routes of a feature, declared beside their handlers.

FastAPI's router builds a route when it is declared and once more when it is included. This one only
collects declarations: the application builds each route once (an eighth of the imports' time).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fastapi.dependencies.utils import get_dependant
from fastapi.params import Depends


class DeclaredRoute(NamedTuple):
    """A path, its handler and the methods, e.g. ``("/cohorts", list_cohorts, ("GET",), ())``."""

    path: str
    endpoint: Callable[..., Any]
    methods: tuple[str, ...]
    dependencies: tuple[Depends, ...]

    def called(self) -> list[Callable[..., Any]]:
        """What is called for the handler's arguments and before it, e.g. the check of a scope."""
        found = [one.call for one in get_dependant(path=self.path, call=self.endpoint).dependencies]
        return [call for call in (*found, *(one.dependency for one in self.dependencies)) if call]


class Router:
    """Collects the routes of a feature, in the order of their declaration."""

    def __init__(self) -> None:
        self.routes: list[DeclaredRoute] = []

    def get[F: Callable[..., Any]](
        self, path: str, *, dependencies: Sequence[Depends] = ()
    ) -> Callable[[F], F]:
        """Declare a GET route."""
        return self.api_route(path, methods=["GET"], dependencies=dependencies)

    def post[F: Callable[..., Any]](
        self, path: str, *, dependencies: Sequence[Depends] = ()
    ) -> Callable[[F], F]:
        """Declare a POST route."""
        return self.api_route(path, methods=["POST"], dependencies=dependencies)

    def patch[F: Callable[..., Any]](self, path: str) -> Callable[[F], F]:
        """Declare a PATCH route."""
        return self.api_route(path, methods=["PATCH"])

    def put[F: Callable[..., Any]](self, path: str) -> Callable[[F], F]:
        """Declare a PUT route."""
        return self.api_route(path, methods=["PUT"])

    def delete[F: Callable[..., Any]](self, path: str) -> Callable[[F], F]:
        """Declare a DELETE route."""
        return self.api_route(path, methods=["DELETE"])

    def api_route[F: Callable[..., Any]](
        self, path: str, *, methods: Sequence[str], dependencies: Sequence[Depends] = ()
    ) -> Callable[[F], F]:
        """Declare a route of several methods."""

        def declare(endpoint: F) -> F:
            route = DeclaredRoute(path, endpoint, tuple(methods), tuple(dependencies))
            self.routes.append(route)
            return endpoint

        return declare
