"""Route that publishes a draft; ``PATCH {"draft": …}`` of a function saves one."""

from starlette.requests import Request
from starlette.responses import Response

from hoglet.functions.api import FUNCTION_PATH, Writes, service_of
from hoglet.functions.drafts.service import Drafts
from hoglet.functions.presenter import full_object
from hoglet.functions.response_schemas import FunctionObject
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import describe
from hoglet.web.router import Router

router = Router()


@router.post(FUNCTION_PATH + "/publish")
@describe({200: FunctionObject})
async def publish_function(request: Request, function_id: str, scope: Writes) -> Response:
    """Make the draft of a function its live version."""
    view = await Drafts(service_of(request)).publish(scope, function_id)
    return JsonResponse(full_object(view))
