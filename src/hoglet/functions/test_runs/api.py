"""Route of test runs (docs/spec/hog-functions.md#9-rows-6-13)."""

from starlette.requests import Request
from starlette.responses import Response

from hoglet.functions.api import FUNCTION_PATH, Writes
from hoglet.functions.test_runs.result import TestRunObject
from hoglet.functions.test_runs.service import TestRunService
from hoglet.kit.errors import Bug
from hoglet.web.json_response import json_response
from hoglet.web.openapi import OBJECT, describe, json_object
from hoglet.web.request_body import read_object
from hoglet.web.router import Router

router = Router()


_TRIAL_BODY = json_object(
    configuration={"type": "object", "additionalProperties": True},
    draft={"type": "boolean", "default": False},
    globals=OBJECT,
    clickhouse_event=OBJECT,
    mock_async_functions={"type": "boolean", "default": True},
    invocation_id={"type": ["string", "null"], "format": "uuid"},
)


@router.post(FUNCTION_PATH + "/invocations")
@describe({200: TestRunObject}, body=_TRIAL_BODY)
async def create_test_run(request: Request, function_id: str, scope: Writes) -> Response:
    """Run a function on an example event; ``new`` tests a function that is not stored."""
    test_runs: TestRunService = request.app.state.test_runs
    body = await read_object(request)
    try:
        return json_response(request, await test_runs.run(scope, function_id, body))
    except Bug as error:
        error.extra = {**error.extra, "status": "error"}
        raise
