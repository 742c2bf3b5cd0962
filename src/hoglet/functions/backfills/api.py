"""Routes of backfills (docs/spec/hog-functions.md#91-enable_backfills)."""

from starlette.requests import Request
from starlette.responses import Response

from hoglet.functions.api import FUNCTION_PATH, Reads, Writes
from hoglet.functions.backfills.service import (
    BackfillObject,
    Backfills,
    BackfillsEnabled,
    StartedBackfill,
)
from hoglet.kit.errors import NotFound
from hoglet.web.json_response import JsonResponse, json_response
from hoglet.web.openapi import (
    PAGE,
    TIME,
    Page,
    describe,
    json_object,
)
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.router import Router

router = Router()


@router.post(FUNCTION_PATH + "/enable_backfills")
@describe({200: BackfillsEnabled})
async def enable_backfills(request: Request, function_id: str, scope: Writes) -> Response:
    """Enable backfills for a function."""
    created = await _backfills(request).enable(scope, function_id)
    answer: BackfillsEnabled = {"batch_export_id": str(created)}
    return json_response(request, answer)


@router.post("/batch_exports/{batch_export_id}/backfills")
@describe(
    {201: StartedBackfill},
    body=json_object(start_at=TIME, end_at=TIME, with_filters={"type": "boolean"}),
)
async def start_backfill(request: Request, batch_export_id: str, scope: Writes) -> Response:
    """Start a backfill over a time range.

    Source: docs/spec/hog-functions.md#91-enable_backfills.
    """
    body = await read_object(request)
    return JsonResponse(
        await _backfills(request).start(scope, batch_export_id, body), status_code=201
    )


@router.get("/batch_exports/{batch_export_id}/backfills")
@describe({200: Page[BackfillObject]}, query=PAGE)
async def list_backfills(request: Request, batch_export_id: str, scope: Reads) -> Response:
    """List the backfills of a function, newest first."""
    page = parse_page(request.query_params)
    count, visible = await _backfills(request).page(scope, batch_export_id, page)
    return JsonResponse(envelope(request, page, count, visible))


@router.get("/batch_exports/{batch_export_id}/backfills/{backfill_id}")
@describe({200: BackfillObject})
async def get_backfill(
    request: Request, batch_export_id: str, backfill_id: str, scope: Reads
) -> Response:
    """Get a backfill with its progress."""
    return JsonResponse(await _backfills(request).get(scope, batch_export_id, backfill_id))


@router.post("/batch_exports/{batch_export_id}/backfills/{backfill_id}/{verb}")
@describe({200: BackfillObject})
async def control_backfill(
    request: Request, batch_export_id: str, backfill_id: str, verb: str, scope: Writes
) -> Response:
    """Pause, resume or cancel a backfill."""
    if verb not in ("pause", "resume", "cancel"):
        raise NotFound
    backfills = _backfills(request)
    return JsonResponse(await backfills.control(scope, batch_export_id, backfill_id, verb))


def _backfills(request: Request) -> Backfills:
    backfills: Backfills = request.app.state.backfills
    return backfills
