"""Routes of the MCP server: streamable HTTP without sessions and without event streams.

``/mcp`` serves the key's current project, ``/api/projects/{id}/mcp`` the given one. Every request
is authorized by its own ``Authorization`` header; tool calls then call the API with this header.

Source: docs/adr/0028-mcp.md.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.auth import CURRENT, authenticate, authorize
from hoglet.access.principals import Principal, ProjectScope
from hoglet.endpoints.container import services_of
from hoglet.kit.errors import Forbidden, HogletError, Invalid, Unauthenticated
from hoglet.kit.json import JsonObject, is_object
from hoglet.mcp.endpoint_tools import PREFIX, endpoint_tools, run_reply, run_request
from hoglet.mcp.protocol import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RpcError,
    RpcMessage,
    check_version,
    handshake,
    read_message,
    result_of,
)
from hoglet.mcp.tools import (
    TOOLS,
    Tool,
    ToolResult,
    UnreadableReply,
    error_result,
    text_result,
    usable_tools,
)
from hoglet.web.error_handlers import status_and_type
from hoglet.web.in_process_client import ApiRequest, ApiResponse, Origin, call_application
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import (
    TEXT,
    Content,
    OpenResponse,
    Problem,
    Status,
    describe,
    json_object,
)
from hoglet.web.request_body import read_body, read_json
from hoglet.web.router import CLIENT_CLOSED_REQUEST, Depends, Router, unless_disconnected
from hoglet.web.validation import validate

PATH = "/mcp"
_BODY_BYTES = 1024 * 1024
_BEARER = "Bearer "
_SCOPES = ("endpoint:read", "query:read", "hog_function:read", "hog_function:write")

router = Router()
project_router = Router()


class RpcResponse(OpenResponse):
    """A JSON-RPC response: ``result`` or ``error``."""

    jsonrpc: str
    id: str | int | None


def _caller(scope: str | None = None) -> Callable[[Request], Awaitable[ProjectScope]]:
    """A dependency that accepts any key with at least one of the scopes of the tools."""

    async def guard(request: Request) -> ProjectScope:
        if not request.headers.get("authorization", "").startswith(_BEARER):
            raise Unauthenticated("Send the key as Authorization: Bearer <key>.")
        principal = await authenticate(request)
        project = request.path_params.get("project_id", CURRENT)
        return await authorize(
            request,
            project,
            scope or _any_scope(principal),
            allow_secret_key=True,
            allow_tenant_token=True,
            throttle=False,  # the called routes count tool calls; the rest is counted below
        )

    return guard


def _any_scope(principal: Principal) -> str:
    return next((scope for scope in _SCOPES if principal.may(scope)), _SCOPES[0])


type Caller = Annotated[ProjectScope, Depends(_caller())]

_ANSWERS: dict[Status, Content] = {200: RpcResponse, 202: None, 400: (RpcResponse, Problem)}
_MESSAGE = json_object(
    "jsonrpc", jsonrpc={"const": "2.0"}, id={}, method=TEXT, params={"type": "object"}
)


@router.post(PATH)
@describe(_ANSWERS, body=_MESSAGE)
async def receive_message(request: Request, scope: Caller) -> Response:
    """Handle a message of the Model Context Protocol, in the key's current project."""
    return await _receive(request, scope)


@project_router.post(PATH)
@describe(_ANSWERS, body=_MESSAGE)
async def receive_project_message(request: Request, scope: Caller) -> Response:
    """Handle a message of the Model Context Protocol."""
    return await _receive(request, scope)


async def _receive(request: Request, scope: ProjectScope) -> Response:
    await read_body(request, limit_bytes=_BODY_BYTES)
    try:
        message = read_message(await read_json(request))
        if message.id is None:  # a notification: none has an effect here
            return Response(status_code=202)
        try:
            check_version(request.headers.get("mcp-protocol-version"))
            result = await unless_disconnected(request.receive, _result(request, scope, message))
        except RpcError as error:
            error.request_id = message.id
            raise
    except RpcError as error:
        return JsonResponse(error.response(), status_code=error.status)
    if result is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    return JsonResponse(result_of(message.id, result))


async def _result(request: Request, scope: ProjectScope, message: RpcMessage) -> Mapping[str, Any]:
    if message.method == "tools/call":
        return await _call(request, scope, message.params)
    await services_of(request).access.rates.check(scope)
    if message.method == "initialize":
        return handshake(message.params)
    if message.method == "ping":
        return {}
    if message.method == "tools/list":
        fixed = [tool.definition() for tool in usable_tools(scope.principal)]
        return {"tools": fixed + await endpoint_tools(services_of(request), scope)}
    raise RpcError(METHOD_NOT_FOUND, f"Unknown method: {str(message.method)[:100]}")


async def _call(request: Request, scope: ProjectScope, params: JsonObject) -> ToolResult:
    """Call a tool; its errors are returned as a result, so that the model can read them."""
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        raise RpcError(INVALID_PARAMS, "params.name must be the name of a tool.")
    if arguments is not None and not is_object(arguments):
        raise RpcError(INVALID_PARAMS, "params.arguments must be an object.")
    try:
        if name.startswith(PREFIX):
            return await _run_endpoint(request, scope, name, arguments or {})
        if name not in TOOLS:
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {name[:100]}")
        return await _use_tool(request, scope, TOOLS[name], arguments or {})
    except Invalid as error:
        about = f"{error.attr}: " if error.attr else ""
        return text_result(f"400 {error.error_code}: {about}{error.detail}", is_error=True)
    except HogletError as error:
        status, _ = status_and_type(type(error))
        if status == 500:
            raise
        return text_result(f"{status} {error.error_code}: {error.detail}", is_error=True)


async def _run_endpoint(
    request: Request, scope: ProjectScope, name: str, arguments: JsonObject
) -> ToolResult:
    run = await run_request(services_of(request), scope, name, arguments)
    response = await _call_api(request, scope, run)
    if response.status != 200:
        return error_result(response)
    return text_result(run_reply(response.body))


async def _use_tool(
    request: Request, scope: ProjectScope, tool: Tool, arguments: JsonObject
) -> ToolResult:
    if tool not in usable_tools(scope.principal):
        raise Forbidden(f"This key cannot use {tool.name}: a personal key with {tool.scope} can.")
    given = validate(tool.arguments, arguments)
    response = await _call_api(request, scope, tool.request(given))
    if response.status >= 400:
        return error_result(response)
    try:
        return text_result(tool.reply(given, response.body))
    except UnreadableReply as error:
        return text_result(str(error), is_error=True)


async def _call_api(request: Request, scope: ProjectScope, call: ApiRequest) -> ApiResponse:
    """Call the API with the caller's own key, which decides what is allowed."""
    path = f"/api/projects/{scope.project.id}{call.path}"
    return await call_application(
        request.app,
        ApiRequest(call.method, path, call.query, call.body),
        authorization=request.headers["authorization"],
        origin=Origin(request.url.scheme, request.url.netloc),
    )
