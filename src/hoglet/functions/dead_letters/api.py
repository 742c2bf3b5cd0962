"""Routes of dead letters: docs/spec/hog-functions.md#10-dead-letters-hoglet-goes-further."""

from starlette.requests import Request
from starlette.responses import Response

from hoglet.functions.api import FUNCTION_PATH, Reads, Writes
from hoglet.functions.dead_letters.schemas import (
    CLASSES,
    DeadLetterDetail,
    DeadLetterObject,
    RedriveResult,
    read_filters,
)
from hoglet.functions.dead_letters.service import DeadLetters
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import (
    PAGE,
    TEXT,
    TIME,
    Page,
    describe,
    flag,
    json_object,
    text,
)
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.router import Router

router = Router()

DEAD_LETTERS = FUNCTION_PATH + "/dead_letters"
DEFAULT_LIMIT = 50
MAX_LIMIT = 500


_REDRIVE_BODY = json_object(
    ids={"type": "array", "items": TEXT},
    **{"class": {"type": "array", "items": {"type": "string", "enum": list(CLASSES)}}},
    after=TIME,
    before=TIME,
    all={"type": "boolean"},
    dry_run={"type": "boolean"},
)
_LIST_QUERY = (*PAGE, text("class"), text("after"), text("before"), flag("redriven"))


@router.get(DEAD_LETTERS)
@describe({200: Page[DeadLetterObject]}, query=_LIST_QUERY)
async def list_dead_letters(request: Request, function_id: str, scope: Reads) -> Response:
    """List dead letters, newest first."""
    page = parse_page(request.query_params, default=DEFAULT_LIMIT, maximum=MAX_LIMIT)
    filters = read_filters(request.query_params)
    count, visible = await _service(request).page(scope, function_id, filters, page)
    return JsonResponse(envelope(request, page, count, visible))


@router.post(DEAD_LETTERS + "/redrive")
@describe({200: RedriveResult}, body=_REDRIVE_BODY)
async def redrive_dead_letters(request: Request, function_id: str, scope: Writes) -> Response:
    """Redrive dead letters."""
    body = await read_object(request)
    return JsonResponse(await _service(request).redrive(scope, function_id, body))


@router.get(DEAD_LETTERS + "/{dead_letter_id}")
@describe({200: DeadLetterDetail})
async def get_dead_letter(
    request: Request, function_id: str, dead_letter_id: str, scope: Reads
) -> Response:
    """Get a dead letter with its globals."""
    return JsonResponse(await _service(request).get(scope, function_id, dead_letter_id))


@router.delete(DEAD_LETTERS + "/{dead_letter_id}")
@describe({204: None})
async def delete_dead_letter(
    request: Request, function_id: str, dead_letter_id: str, scope: Writes
) -> Response:
    """Delete a dead letter."""
    await _service(request).delete(scope, function_id, dead_letter_id)
    return Response(status_code=204)


def _service(request: Request) -> DeadLetters:
    dead_letters: DeadLetters = request.app.state.dead_letters
    return dead_letters
