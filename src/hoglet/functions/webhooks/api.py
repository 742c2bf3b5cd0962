"""Public routes of functions: incoming webhooks and the scripts of site functions.

Source: docs/spec/hog-functions.md#137-source_webhook and
docs/spec/hog-functions.md#138-site-functions.
"""

from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from hoglet.functions import repository, types
from hoglet.functions.api import service_of
from hoglet.functions.webhooks.service import Incoming, WebhookAnswer, Webhooks
from hoglet.kit.compression import (
    ENCODINGS,
    UNREAD_ENCODINGS,
    InflatedTooLarge,
    NotCompressed,
    inflate,
)
from hoglet.kit.errors import TooLarge, Unreadable, UnsupportedMediaType
from hoglet.web.error_handlers import add_error_key
from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import describe
from hoglet.web.request_body import read_body
from hoglet.web.router import Router

router = Router()

MAX_WEBHOOK_BYTES = 512_000
_SCRIPT_SECONDS = 31_536_000  # a year: the URL changes with every save
_GUARD_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'",
}


@router.api_route("/public/webhooks/{name}", methods=["GET", "POST"])
@describe(
    {200: "*/*", 201: "*/*", 500: "*/*", "default": "*/*"}, problems=(400, 405, 413, 415, 429)
)
async def receive_webhook(request: Request, name: str) -> Response:
    """Receive a webhook with a function of type ``source_webhook``.

    Raises:
        TooLarge: a body over 512,000 bytes, decompressed or not.
        UnsupportedMediaType: its ``Content-Encoding`` is not known.
        Unreadable: it cannot be decompressed.
    """
    try:
        body = _plain(
            await read_body(request, limit_bytes=MAX_WEBHOOK_BYTES),
            request.headers.get("content-encoding", "").strip().lower(),
        )
    except (TooLarge, UnsupportedMediaType, Unreadable) as error:
        raise add_error_key(error) from None
    webhooks: Webhooks = request.app.state.webhooks
    incoming = Incoming(
        method=request.method,
        headers=request.headers,
        query=request.query_params,
        ip=request.client.host if request.client else "",
        body=body,
    )
    return _response(await webhooks.handle(name, incoming))


@router.get("/site_function/{function_id}/{stamp}")
@describe({200: "application/javascript"})
async def get_site_script(request: Request, function_id: str, stamp: str) -> Response:  # noqa: ARG001 (only makes the URL new)
    """Get the script of an enabled site function."""
    script = await _script(request, function_id)
    if script is None:
        body = {
            "type": "server_error",
            "code": "missing_site_function_source",
            "detail": "Unable to serve the source code of this site function.",
            "attr": None,
        }
        return JsonResponse(body, status_code=404)
    return Response(
        script,
        media_type="application/javascript",
        headers={"Cache-Control": f"public, max-age={_SCRIPT_SECONDS}"},
    )


def _plain(body: bytes, encoding: str) -> bytes:
    if encoding in UNREAD_ENCODINGS:
        raise UnsupportedMediaType(f"Content-Encoding {encoding} is not supported; use gzip.")
    if not body or encoding not in ENCODINGS:
        return body
    try:
        return inflate(body, MAX_WEBHOOK_BYTES)
    except NotCompressed as error:
        raise Unreadable(str(error)) from None
    except InflatedTooLarge:
        detail = f"The request body is larger than {MAX_WEBHOOK_BYTES} bytes."
        raise TooLarge(detail) from None


async def _script(request: Request, function_id: str) -> str | None:
    try:
        row_id = UUID(function_id)
    except ValueError:
        return None
    async with service_of(request).database.read() as session:
        row = await repository.find_anywhere(session, row_id)
    if row is None or not row.enabled or row.type not in types.SITE:
        return None
    return row.transpiled


def _response(answer: WebhookAnswer) -> Response:
    if answer.body is None:
        return Response(status_code=answer.status)
    if isinstance(answer.body, bytes):
        return Response(
            answer.body,
            status_code=answer.status,
            media_type=answer.content_type,
            headers=_GUARD_HEADERS,
        )
    return JsonResponse(answer.body, status_code=answer.status, headers=_GUARD_HEADERS)
