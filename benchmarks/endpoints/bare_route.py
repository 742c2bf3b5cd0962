"""A Starlette route that returns fixed bytes: the limit for a cached run."""

import asyncio
import contextlib
import multiprocessing
from collections.abc import Iterator
from typing import Any

from benchmarks.endpoints.http_calls import JSON, wait_for

from support.server import free_port


@contextlib.contextmanager
def bare_route(body: bytes) -> Iterator[int]:
    """The port of a granian server with one worker, as in hoglet, and the route ``/run``."""
    port = free_port()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(port, body))
    server.start()
    try:
        wait_for(port, "/run")
        yield port
    finally:
        server.kill()
        server.join()


def _serve(port: int, body: bytes) -> None:
    from granian.constants import Interfaces
    from granian.server.embed import Server
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Route

    async def answer(request: Any) -> Response:
        await request.body()  # unread bodies close the connection
        return Response(body, media_type=JSON)

    app = Starlette(routes=[Route("/run", answer, methods=["GET", "POST"])])
    server = Server(
        app,
        address="127.0.0.1",
        port=port,
        interface=Interfaces.ASGI,
        log_enabled=False,
        backlog=1024,
    )
    asyncio.run(server.serve())
