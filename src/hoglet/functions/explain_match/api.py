"""Routes that explain a match, and count how many of the newest events match."""

from starlette.requests import Request
from starlette.responses import Response

from hoglet.functions.api import FUNCTION_PATH, Reads
from hoglet.functions.explain_match.match_counts import MatchCounts
from hoglet.functions.explain_match.schemas import (
    MAX_COUNTED_EVENTS,
    MatchCount,
    MatchExplanation,
)
from hoglet.functions.explain_match.service import MatchExplainer
from hoglet.web.json_response import json_response
from hoglet.web.openapi import OBJECT, OpenApiObject, describe, json_object
from hoglet.web.request_body import read_object
from hoglet.web.router import Router

router = Router()

_UUID: OpenApiObject = {"type": "string", "format": "uuid"}
_BODY = json_object(
    event={"anyOf": [_UUID, OBJECT], "description": "An event, or the UUID of a stored one."},
    event_uuid=_UUID,
    person=OBJECT,
    groups=OBJECT,
    globals=OBJECT,
    clickhouse_event=OBJECT,
    configuration={"type": "object", "additionalProperties": True},
    draft={"type": "boolean", "default": False},
)
_COUNT_BODY = json_object(
    limit={
        "type": "integer",
        "minimum": 1,
        "maximum": MAX_COUNTED_EVENTS,
        "default": MAX_COUNTED_EVENTS,
    },
    configuration={"type": "object", "additionalProperties": True},
    draft={"type": "boolean", "default": False},
)


@router.post(FUNCTION_PATH + "/explain_match")
@describe({200: MatchExplanation}, body=_BODY)
async def explain_match(request: Request, function_id: str, scope: Reads) -> Response:
    """Explain which conditions of a function an event meets; ``new`` for one not stored.

    A configuration or draft also needs ``hog_function:write``, a stored event ``query:read``.
    """
    explainer: MatchExplainer = request.app.state.match_explainer
    body = await read_object(request)
    return json_response(request, await explainer.explain(scope, function_id, body))


@router.post(FUNCTION_PATH + "/count_matches")
@describe({200: MatchCount}, body=_COUNT_BODY)
async def count_matches(request: Request, function_id: str, scope: Reads) -> Response:
    """Count how many of the newest stored events match a function; ``new`` for one not stored.

    Needs ``query:read``, too; a configuration or draft also ``hog_function:write``.
    """
    counts: MatchCounts = request.app.state.match_counts
    body = await read_object(request)
    return json_response(request, await counts.count(scope, function_id, body))
