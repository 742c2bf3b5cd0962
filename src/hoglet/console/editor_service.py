"""Proxies the code editor's requests for completions and diagnostics."""

from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hoglet.console.session import Sessions
from hoglet.web.request_body import read_body
from hoglet.web.responses import JsonResponse

_KINDS = frozenset({"HogQLMetadata", "HogQLAutocomplete"})
_LARGEST_BYTES = 1_000_000


def editor_route(sessions: Sessions) -> Route:
    """``POST /console/editor/<project>``: an editor query of the API, with the session's key.

    401 without a session, 400 for other kinds of queries; otherwise the API's response.
    """

    async def answer(request: Request) -> Response:
        backend = sessions.backend(request, str(request.path_params["project_id"]))
        if backend is None:
            return JsonResponse({"detail": "Sign in first."}, 401)
        query = _parsed(await read_body(request, limit_bytes=_LARGEST_BYTES))
        if query is None:
            return JsonResponse({"detail": f"Send one of {', '.join(sorted(_KINDS))}."}, 400)
        reply = await backend.send("POST", "/query", {"query": query})
        return JsonResponse(reply.body, reply.status)

    return Route("/console/editor/{project_id}", answer, methods=["POST"])


def _parsed(body: bytes) -> dict[str, Any] | None:
    try:
        query = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    is_known = isinstance(query, dict) and query.get("kind") in _KINDS
    return query if is_known else None
