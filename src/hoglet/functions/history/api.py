"""Routes of a function's change history."""

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.schemas import ActivityObject
from hoglet.functions.api import FUNCTION_PATH, Reads, Writes, service_of
from hoglet.functions.history.service import History
from hoglet.functions.presenter import full_object
from hoglet.functions.response_schemas import FunctionObject
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import PAGE, TEXT, TIME, Page, describe, json_object
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.router import Router

router = Router()


@router.get(FUNCTION_PATH + "/activity")
@describe({200: Page[ActivityObject]}, query=PAGE)
async def list_function_activity(request: Request, function_id: str, scope: Reads) -> Response:
    """List the changes of a function, newest first."""
    page = parse_page(request.query_params)
    count, entries = await History(service_of(request)).page(scope, function_id, page)
    return JsonResponse(envelope(request, page, count, entries))


@router.post(FUNCTION_PATH + "/restore")
@describe({200: FunctionObject}, body=json_object(activity_id=TEXT, to=TIME))
async def restore_function(request: Request, function_id: str, scope: Writes) -> Response:
    """Restore an earlier state with ``{"activity_id": …}`` or ``{"to": time}``; secrets stay."""
    body = await read_object(request)
    view = await History(service_of(request)).restore(scope, function_id, body)
    return JsonResponse(full_object(view))
