"""``/_health``, ``/_readyz`` and ``/metrics``.

Source: docs/spec/hog-functions.md#15-bootstrap-routes (last row).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hoglet.web.responses import JsonResponse

type Check = Callable[[], Awaitable[None]]
"""Raises when its part is not usable."""

CHECK_SECONDS = 5.0  # a part that does not answer within this is not usable


def health_routes(checks: Mapping[str, Check], registry: CollectorRegistry) -> list[Route]:
    """The three routes; ``checks`` maps a part's name (``storage``, ``queue``) to its check."""

    async def health(_request: Request) -> Response:
        return JsonResponse({"status": "ok"})

    async def ready(_request: Request) -> Response:
        names = list(checks)
        states = await asyncio.gather(*(_state(checks[name]) for name in names))
        usable = all(state == "ok" for state in states)
        return JsonResponse(
            {
                "status": "ok" if usable else "unavailable",
                "checks": dict(zip(names, states, strict=True)),
            },
            status_code=200 if usable else 503,
        )

    async def metrics(_request: Request) -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return [
        Route("/_health", health),
        Route("/_readyz", ready),
        Route("/metrics", metrics),
    ]


async def _state(check: Check) -> str:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await check()
    except Exception as error:  # noqa: BLE001 (whatever a check raises means: not usable)
        return type(error).__name__
    return "ok"
