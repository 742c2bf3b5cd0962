"""Per request: an id, a log line, two metrics, and the handler of last resort for errors."""

import re
import time
from bisect import bisect_left
from collections.abc import Awaitable, Iterable
from itertools import accumulate
from typing import Any, override

import structlog
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hoglet.kit import tracing
from hoglet.kit.clock import new_id_text
from hoglet.kit.errors import Unavailable, Unreadable
from hoglet.store.availability import is_unavailable, reason_of
from hoglet.web.error_handlers import REQUEST_ID, problem, server_error

logger = structlog.get_logger(__name__)

_SANE_ID = re.compile(r"[A-Za-z0-9._\-]{1,100}")
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_QUIET_PATHS = frozenset({"/_health", "/_readyz", "/metrics"})
BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class RequestMetrics(Collector):
    """Prometheus metrics of HTTP requests, by method, route template and status.

    Counted in plain numbers, a third of the time that the client's own counters take with their
    locks: one thread counts.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._counts: dict[tuple[str, str, int], int] = {}
        self._times: dict[tuple[str, str], TimeBuckets] = {}
        registry.register(self)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Record one response."""
        key = (method, route, status)
        self._counts[key] = self._counts.get(key, 0) + 1
        times = self._times.get((method, route))
        if times is None:
            times = self._times[method, route] = TimeBuckets(BUCKETS_S)
        times.observe(seconds)

    @override
    def collect(self) -> Iterable[Metric]:
        """The metrics as they are now."""
        count = CounterMetricFamily(
            "hoglet_http_requests", "Requests answered.", labels=("method", "route", "status")
        )
        for (method, route, status), number in list(self._counts.items()):
            count.add_metric((method, route, str(status)), number)
        time_taken = HistogramMetricFamily(
            "hoglet_http_request_seconds", "Response time.", labels=("method", "route")
        )
        for labels, times in list(self._times.items()):
            time_taken.add_metric(labels, times.buckets(), times.total)
        return (count, time_taken)


class TimeBuckets:
    """A histogram of times in plain numbers.

    Args:
        bounds: upper bounds of the buckets, in seconds.

    Concurrency: counted by one thread.
    """

    __slots__ = ("_bounds", "_counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)  # the last one is of those above all bounds
        self.total = 0.0

    def observe(self, seconds: float) -> None:
        """Record a time."""
        self.total += seconds
        self._counts[bisect_left(self._bounds, seconds)] += 1

    def buckets(self) -> list[tuple[str, int]]:
        """How many were at most as long as each bound: ``[("0.001", 3), …, ("+Inf", 9)]``."""
        names = (*(str(float(bound)) for bound in self._bounds), "+Inf")
        return list(zip(names, accumulate(self._counts), strict=True))


class RequestLogMiddleware:
    """ASGI middleware, outermost.

    Unexpected exceptions end here: a bare 500 with the request id, and the traceback in the log. A
    client that disconnects is not an error.
    """

    def __init__(self, app: ASGIApp, metrics: RequestMetrics, *, log_requests: bool) -> None:
        self._app = app
        self._metrics = metrics
        self._log_requests = log_requests
        self._paths: dict[Any, tuple[str, ...]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = _Watched(scope, send)
        if scope["path"] in _QUIET_PATHS:
            await request.run(self._app, receive, self)
            return
        method = _known_method(scope["method"])
        if not tracing.is_installed():
            await request.run(self._app, receive, self)
            return
        with tracing.span(method, parent=_header(scope, b"traceparent"), kind="server") as span:
            await request.run(self._app, receive, self)
            if span.is_recorded:
                request.describe(span, method, self.route_of(scope))

    def done(self, scope: Scope, status: int, seconds: float, request_id: str) -> None:
        """Record and log a finished request."""
        method = _known_method(scope["method"])
        self._metrics.observe(method, self.route_of(scope), status, seconds)
        if status < 500 and (not self._log_requests or scope["path"] in _QUIET_PATHS):
            return
        logger.info(
            "request",
            action="request",
            method=scope["method"],
            path=scope["path"],
            status=status,
            milliseconds=round(seconds * 1000, 2),
            request_id=request_id,
        )

    def route_of(self, scope: Scope) -> str:
        """The route's template, never the path itself: metric labels must have few values."""
        if "route" in scope:
            return scope["route"].path
        endpoint = scope.get("endpoint")  # Starlette's own routes set only this
        paths = self._paths.get(endpoint)
        if paths is None:
            routes: list[Any] = scope["app"].routes if endpoint else []
            same = [route.path for route in routes if getattr(route, "endpoint", None) is endpoint]
            paths = self._paths[endpoint] = tuple(same)
        if scope["path"] in paths:  # one handler may have several routes
            return scope["path"]
        return paths[0] if paths else "unrouted"


class _Watched:
    """A request in progress."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self._status = 0  # no response started
        given = _header(scope, b"x-request-id")
        self._id = given if given and _SANE_ID.fullmatch(given) else new_id_text()
        scope[REQUEST_ID] = self._id

    async def run(self, app: ASGIApp, receive: Receive, watch: RequestLogMiddleware) -> None:
        started = time.perf_counter()
        try:
            await app(self._scope, receive, self._sender)
        except ClientDisconnect:
            await self._refuse_half(receive)
        except Exception as error:  # noqa: BLE001 (the last handler: answers 500 and logs the trace)
            await self._fail(error, receive)
        finally:
            watch.done(self._scope, self._status, time.perf_counter() - started, self._id)

    def describe(self, span: tracing.Span, method: str, route: str) -> None:
        """Name the span of the finished request after its route."""
        span.rename(f"{method} {route}")
        span.set("http.request.method", method)
        span.set("http.route", route)
        span.set("http.response.status_code", self._status)
        if self._status >= 500:
            span.fail(str(self._status))

    async def _refuse_half(self, receive: Receive) -> None:
        """Count the client as disconnected; one that only stopped sending can read the refusal.

        Without a response, the server would send a 500 of its own.
        """
        if not self._status:
            self._status = 499
            refusal = Unreadable("The request body ended before it was complete.")
            await problem(refusal)(self._scope, receive, self._send)

    async def _fail(self, error: Exception, receive: Receive) -> None:
        if is_unavailable(error):
            await logger.aerror(
                "the database does not answer",
                action="database_unavailable",
                request_id=self._id,
                reason=reason_of(error),
            )
            if not self._status:
                refusal = Unavailable("The database is currently not available; try again later.")
                await problem(refusal)(self._scope, receive, self._sender)
            return
        await logger.aerror(
            "unexpected error", action="request_failed", request_id=self._id, exc_info=error
        )
        if not self._status:
            await server_error()(self._scope, receive, self._sender)

    def _sender(self, message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            message["headers"] = [*message["headers"], (b"x-request-id", self._id.encode())]
        return self._send(message)


def _known_method(method: str) -> str:
    return method if method in _METHODS else "OTHER"


def _header(scope: Scope, name: bytes) -> str | None:
    """The first header of a request with this name, in lower case."""
    for key, value in scope["headers"]:
        if key == name:
            return value.decode("latin-1")
    return None
