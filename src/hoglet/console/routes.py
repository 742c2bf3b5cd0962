"""JSON routes of the console: targets of the jump dialog (Ctrl+K), queries of the code editor."""

from collections.abc import Awaitable, Callable
from typing import TypedDict
from urllib.parse import quote

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hoglet.console.api_client import Backend
from hoglet.console.components.variable_fields import project_variables, with_examples
from hoglet.console.navigation import PAGES
from hoglet.console.session import Sessions
from hoglet.kit.json import JsonObject
from hoglet.web.json_response import JsonResponse
from hoglet.web.request_body import read_body

_MOST = 1000
_KINDS = frozenset({"HogQLMetadata", "HogQLAutocomplete"})
_MAX_BYTES = 1_000_000


class JumpTarget(TypedDict):
    """Something to jump to: ``{"name": "Echo", "kind": "destination", "href": "/project/1/…"}``."""

    name: str
    kind: str
    href: str


def jump_route(sessions: Sessions) -> Route:
    """``GET /console/jump/<project>``: a JSON list of targets; 401 without a session."""

    async def jump(request: Request) -> Response:
        project_id: str = request.path_params["project_id"]
        backend = sessions.backend(request, project_id)
        if backend is None:
            return JsonResponse([], 401)
        return JsonResponse(await _targets(backend), headers={"cache-control": "no-store"})

    return Route("/console/jump/{project_id}", jump)


async def _targets(backend: Backend) -> list[JumpTarget]:
    project = f"/project/{backend.project_id}"
    targets: list[JumpTarget] = [
        {"name": page.title, "kind": "page", "href": page.href(backend.project_id)}
        for page in PAGES
    ]
    for read in _READERS:
        targets += await read(backend, project)
    return targets


async def _functions(backend: Backend, project: str) -> list[JumpTarget]:
    return [
        {
            "name": each["name"] or "Untitled",
            "kind": each["type"].replace("_", " "),
            "href": f"{project}/functions/{each['id']}",
        }
        for each in await _results(backend, "/hog_functions")
    ]


async def _endpoints(backend: Backend, project: str) -> list[JumpTarget]:
    return [
        {
            "name": each["name"],
            "kind": "endpoint",
            "href": f"{project}/endpoints/{quote(each['name'])}",
        }
        for each in await _results(backend, "/endpoints")
    ]


async def _results(backend: Backend, path: str) -> list[JsonObject]:
    reply = await backend.get(path, limit=_MOST)
    return reply.body["results"] if reply.is_good else []


_READERS: tuple[Callable[[Backend, str], Awaitable[list[JumpTarget]]], ...] = (
    _functions,
    _endpoints,
)


def editor_route(sessions: Sessions) -> Route:
    """``POST /console/editor/<project>``: an editor query of the API, with the session's key.

    401 without a session, 400 for other kinds of queries; otherwise the API's response.
    """

    async def answer(request: Request) -> Response:
        backend = sessions.backend(request, str(request.path_params["project_id"]))
        if backend is None:
            return JsonResponse({"detail": "Sign in first."}, 401)
        query = _parsed(await read_body(request, limit_bytes=_MAX_BYTES))
        if query is None:
            return JsonResponse({"detail": f"Send one of {', '.join(sorted(_KINDS))}."}, 400)
        if query["kind"] == "HogQLMetadata" and query.get("language") == "hogQL":
            query.setdefault("variables", with_examples(await project_variables(backend)))
        reply = await backend.send("POST", "/query", {"query": query})
        return JsonResponse(reply.body, reply.status)

    return Route("/console/editor/{project_id}", answer, methods=["POST"])


def _parsed(body: bytes) -> JsonObject | None:
    try:
        query = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    is_known = isinstance(query, dict) and query.get("kind") in _KINDS
    return query if is_known else None
