"""The capture routes: plain Starlette, because they are the hot path.

Cross-origin answers and slash spelling are ``hoglet.web``'s; errors go through its one mapper.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hoglet.events.service import CaptureRequest, CaptureService
from hoglet.web.client_ip import client_ip
from hoglet.web.request_body import read_body

CAPTURE_PATHS = ("/batch", "/i/v0/e", "/e", "/capture", "/track", "/engage")
RECORDING_PATHS = ("/s",)
_STORED = b'{"status":1}'


async def capture(request: Request) -> Response:
    """Accept a batch; 200 means that it is on disk."""
    service: CaptureService = request.app.state.events.capture
    await service.capture(
        CaptureRequest(
            body=await read_body(request, limit_bytes=service.body_limit_bytes),
            query=request.query_params,
            content_encoding=request.headers.get("content-encoding", ""),
            ip=client_ip(request),
        )
    )
    return _accepted(request)


async def drop_recording(request: Request) -> Response:
    """Session recordings are accepted and dropped."""
    await read_body(request)
    return _accepted(request)


def _accepted(request: Request) -> Response:
    if request.query_params.get("beacon") == "1":
        return Response(status_code=204)
    return Response(_STORED, media_type="application/json")


def capture_routes() -> list[Route]:
    """The routes of this room; the application adds them before all others."""
    accepted = [Route(path, capture, methods=["POST"]) for path in CAPTURE_PATHS]
    dropped = [Route(path, drop_recording, methods=["POST"]) for path in RECORDING_PATHS]
    return accepted + dropped
