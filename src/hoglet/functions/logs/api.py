"""Routes of a function's logs and metrics (docs/spec/hog-functions.md#9-rows-6-13)."""

from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.principals import ProjectScope
from hoglet.functions.api import FUNCTION_PATH, Reads, service_of
from hoglet.functions.logs.telemetry import (
    LOG_SOURCE,
    log_objects,
    read_interval,
    read_log_filters,
    read_metric_filters,
)
from hoglet.kit.relative_dates import DateClock
from hoglet.warehouse.telemetry import Telemetry
from hoglet.web.json_response import json_response
from hoglet.web.openapi import DocumentedResponse, LogLine, Page, describe, number, text
from hoglet.web.router import Router

router = Router()


class MetricSeries(DocumentedResponse):
    """One value per label."""

    name: str
    values: list[int]


class Metrics(DocumentedResponse):
    """Counts by interval."""

    labels: list[str]
    series: list[MetricSeries]


class Totals(DocumentedResponse):
    """Counts by kind or name."""

    totals: dict[str, int]


LOG_QUERY = (
    number("limit", minimum=1, maximum=500),
    text("after", "ISO 8601, exclusive."),
    text("before", "ISO 8601, exclusive."),
    text("level", "Comma-separated list of DEBUG, LOG, INFO, WARN, ERROR."),
    text("search"),
    text("instance_id", "Id of an invocation."),
)
_TOTALS_QUERY = (
    text("after", "e.g. -7d, or ISO 8601."),
    text("before"),
    text("name", "Comma list."),
    text("kind", "Comma list."),
    text("breakdown_by", enum=["name", "kind"]),
)
_METRIC_QUERY = (*_TOTALS_QUERY, text("interval", enum=["hour", "day", "week"]))


@router.get(FUNCTION_PATH + "/logs")
@describe({200: Page[LogLine]}, query=LOG_QUERY)
async def list_logs(request: Request, function_id: str, scope: Reads) -> Response:
    """List log lines of a function, newest first."""
    filters = read_log_filters(request.query_params)
    view = await service_of(request).get(scope, function_id)
    entries = await _telemetry(request).read_logs(
        scope.project.id, LOG_SOURCE, str(view.row.id), filters
    )
    return json_response(request, log_objects(entries))


@router.get(FUNCTION_PATH + "/metrics")
@describe({200: Metrics}, query=(*_METRIC_QUERY, text("instance_id")))
async def get_metrics(request: Request, function_id: str, scope: Reads) -> Response:
    """Get a function's metrics as time series."""
    service = service_of(request)
    interval = read_interval(request.query_params)
    filters = read_metric_filters(request.query_params, clock=_clock(request, scope))
    view = await service.get(scope, function_id)
    series = await _telemetry(request).read_metrics(
        scope.project.id,
        LOG_SOURCE,
        str(view.row.id),
        filters,
        interval=interval,
        timezone=scope.project.timezone,
    )
    named = [{"name": name, "values": values} for name, values in series.series.items()]
    return json_response(request, {"labels": series.labels, "series": named})


@router.get(FUNCTION_PATH + "/metrics/totals")
@describe({200: Totals}, query=_TOTALS_QUERY)
async def get_totals(request: Request, function_id: str, scope: Reads) -> Response:
    """Get a function's metrics as totals."""
    service = service_of(request)
    filters = read_metric_filters(
        request.query_params, clock=_clock(request, scope), with_instance=False
    )
    view = await service.get(scope, function_id)
    totals = await _telemetry(request).read_totals(
        scope.project.id, LOG_SOURCE, str(view.row.id), filters
    )
    return json_response(request, {"totals": totals})


def _clock(request: Request, scope: ProjectScope) -> DateClock:
    project = scope.project
    return DateClock(service_of(request).clock.now(), project.timezone, project.week_start_day)


def _telemetry(request: Request) -> Telemetry:
    telemetry: Telemetry = request.app.state.telemetry
    return telemetry
