"""``/_health``, ``/_readyz`` and ``/metrics``.

Source: docs/spec/hog-functions.md#15-bootstrap-routes (last row).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

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

type Pending = dict[str, asyncio.Future[Any]]
"""Questions by the name of their part that have not been answered yet."""

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

    pending: Pending = {}
    notes = warnings or _no_warnings

    @describe({200: {"type": "object"}, 503: {"type": "object"}})
    async def ready(_request: Request) -> Response:
        names = list(checks)
        *states, noted = await asyncio.gather(
            *(_state(pending, name, checks[name]) for name in names), _noted(pending, notes)
        )
        usable = all(state == "ok" for state in states)
        return JsonResponse(
            {
                "status": "ok" if usable else "unavailable",
                "checks": dict(zip(names, states, strict=True)),
                "warnings": noted,
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


async def _state(pending: Pending, name: str, check: Check) -> str:
    try:
        await _answer(pending, name, check)
    except NotReady as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 (any error of a check means: not usable)
        return type(error).__name__
    return "ok"


async def _noted(pending: Pending, warnings: Warnings) -> list[str]:
    try:
        return await _answer(pending, "", warnings)
    except Exception as error:  # noqa: BLE001 (the checks then report the cause)
        return [f"Warnings cannot be read: {type(error).__name__}"]


async def _no_warnings() -> list[str]:
    return []


async def _answer[T](pending: Pending, name: str, ask: Callable[[], Awaitable[T]]) -> T:
    """What a part answers within ``CHECK_SECONDS``.

    Cancelling a statement takes a driver seconds if the database does not respond, so the end is
    not awaited. Meanwhile other requests join it: each would take a connection of its own.

    Raises:
        TimeoutError: it does not answer in time.
    """
    asked = pending.get(name)
    if asked is None:
        asked = pending[name] = asyncio.ensure_future(_limited(ask))
        asked.add_done_callback(lambda ended: _forget(pending, name, ended))
    await asyncio.wait({asked}, timeout=CHECK_SECONDS)
    if not asked.done():
        raise TimeoutError
    return asked.result()


async def _limited[T](ask: Callable[[], Awaitable[T]]) -> T:
    async with asyncio.timeout(CHECK_SECONDS):
        return await ask()


def _forget(pending: Pending, name: str, ended: asyncio.Future[Any]) -> None:
    del pending[name]
    if not ended.cancelled():
        ended.exception()  # nobody may be waiting for it
