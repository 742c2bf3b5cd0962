"""Answers in JSON, written by orjson, and the empty answer of ``Prefer: return=minimal``."""

import json
from typing import Any, override

import orjson
from starlette.requests import Request
from starlette.responses import Response

MINIMAL = "return=minimal"


def dump_json(content: Any) -> bytes:
    """JSON text of any value that hoglet can hold.

    orjson refuses whole numbers beyond 64 bits, lone surrogates and very deep nesting; programs
    and queries can produce these, so the standard library writes what orjson will not.
    """
    try:
        return orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return json.dumps(content, separators=(",", ":"), default=str).encode()


class JsonAnswer(Response):
    """A JSON response; ``content`` is made of dict, list, str, numbers, bool, None."""

    media_type = "application/json"

    @override
    def render(self, content: Any) -> bytes:
        return dump_json(content)


def answer(request: Request, content: Any, *, status: int = 200) -> Response:
    """The answer of a side route, empty when the caller asked for ``Prefer: return=minimal``.

    Source: docs/spec/hog-functions.md#1-routes-and-common-rules (rows 6-13).
    """
    wishes = request.headers.get("prefer", "").lower().replace(" ", "")
    if status < 300 and MINIMAL in wishes.split(","):
        return Response(status_code=200, headers={"Preference-Applied": MINIMAL})
    return JsonAnswer(content, status_code=status)
