"""``/_health``, ``/_readyz`` and ``/metrics``.

Source: docs/spec/hog-functions.md#15-bootstrap-routes (last row).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hoglet.web.json_response import JsonResponse
from hoglet.web.openapi import describe

type Check = Callable[[], Awaitable[None]]
"""Raises if the part is not usable; :class:`NotReady` carries a reason that is safe to show."""

type Warnings = Callable[[], Awaitable[list[str]]]
"""Describes problems that need an operator but do not affect readiness."""

CHECK_SECONDS = 5.0  # a part that does not respond in this time counts as not usable


class NotReady(Exception):
    """A part is not usable; the message is shown in ``/_readyz``."""


def health_routes(
    checks: Mapping[str, Check],
    registry: CollectorRegistry,
    warnings: Warnings | None = None,
) -> list[Route]:
    """The three routes; ``checks`` maps a part's name (``storage``, ``queue``) to its check.

    ``/_readyz`` answers ``{"status": "unavailable", "checks": {"disk": "12 MB are free"},
    "warnings": ["3 dead letters"]}``, with 503 if a check fails.
    """

    @describe({200: {"type": "object"}})
    async def health(_request: Request) -> Response:
        return JsonResponse({"status": "ok"})

    @describe({200: {"type": "object"}, 503: {"type": "object"}})
    async def ready(_request: Request) -> Response:
        names = list(checks)
        states = await asyncio.gather(*(_state(checks[name]) for name in names))
        usable = all(state == "ok" for state in states)
        return JsonResponse(
            {
                "status": "ok" if usable else "unavailable",
                "checks": dict(zip(names, states, strict=True)),
                "warnings": await _warnings(warnings),
            },
            status_code=200 if usable else 503,
        )

    @describe({200: "text/plain"})
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
    except NotReady as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 (any error of a check means: not usable)
        return type(error).__name__
    return "ok"


async def _warnings(warnings: Warnings | None) -> list[str]:
    if warnings is None:
        return []
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await warnings()
    except Exception as error:  # noqa: BLE001 (the checks then report the cause)
        return [f"Warnings cannot be read: {type(error).__name__}"]
