"""JSON responses, encoded by orjson."""

from typing import Any, override

from starlette.requests import Request
from starlette.responses import Response

from hoglet.kit.json import dump_json

_MINIMAL = "return=minimal"


class JsonResponse(Response):
    """A JSON response; ``content`` consists of dict, list, str, numbers, bool and None."""

    media_type = "application/json"

    @override
    def render(self, content: Any) -> bytes:
        return dump_json(content)


def json_response(request: Request, content: Any, *, status: int = 200) -> Response:
    """The response of a secondary route, empty if the client sent ``Prefer: return=minimal``.

    Source: docs/spec/hog-functions.md#1-routes-and-common-rules (rows 6-13).
    """
    preferences = request.headers.get("prefer", "").lower().replace(" ", "")
    if status < 300 and _MINIMAL in preferences.split(","):
        return Response(status_code=200, headers={"Preference-Applied": _MINIMAL})
    return JsonResponse(content, status_code=status)
