"""Routes beside the functions themselves: icons, test runs, logs, metrics, backfills.

Registered before ``api.router``, so that ``icon`` and ``icons`` are matched before a function id.

Source: docs/spec/hog-functions.md#9-rows-6-13.
"""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.principals import ProjectScope
from hoglet.functions.api import ONE, PATH, Reads, Writes, service_of
from hoglet.functions.backfills.service import Backfills
from hoglet.functions.logs.telemetry import (
    SOURCE,
    read_interval,
    read_log_filters,
    read_metric_filters,
    shown_logs,
)
from hoglet.functions.test_runs.service import TestRunService
from hoglet.kit.errors import Bug, Invalid, MethodNotAllowed, NotFound
from hoglet.kit.relative_dates import DateClock
from hoglet.warehouse.telemetry import Telemetry
from hoglet.web.pagination import envelope, parse_page
from hoglet.web.request_body import read_object
from hoglet.web.responses import JsonResponse, json_response

router = APIRouter()


@router.get(PATH + "/icons")
async def list_icons(request: Request, scope: Reads) -> Response:  # noqa: ARG001 (the guard)
    """Row 12: no logo provider is configured, so there is nothing to choose from."""
    return json_response(request, [])


@router.get(PATH + "/icon")
async def get_icon(request: Request, scope: Reads) -> Response:  # noqa: ARG001 (the guard)
    """Row 11: no logo provider is configured.

    Raises:
        Invalid: no id.
        NotFound: always, with an id.
    """
    if not request.query_params.get("id"):
        raise Invalid("The parameter id is required.")
    raise NotFound


@router.api_route(PATH + "/icon", methods=["PATCH", "PUT"])
@router.api_route(PATH + "/icons", methods=["PATCH", "PUT"])
async def refuse_icons(request: Request, scope: Writes) -> Response:  # noqa: ARG001 (the guard)
    """``icon`` and ``icons`` are no function ids, so they are not for the route of one function."""
    raise MethodNotAllowed(f'Method "{request.method}" not allowed.')


@router.get(ONE + "/logs")
async def list_logs(request: Request, function_id: str, scope: Reads) -> Response:
    """Row 8."""
    filters = read_log_filters(request.query_params)
    shown = await service_of(request).get(scope, function_id)
    entries = await _telemetry(request).read_logs(
        scope.project.id, SOURCE, str(shown.row.id), filters
    )
    return json_response(request, shown_logs(entries))


@router.get(ONE + "/metrics")
async def get_metrics(request: Request, function_id: str, scope: Reads) -> Response:
    """Row 9."""
    service = service_of(request)
    interval = read_interval(request.query_params)
    filters = read_metric_filters(request.query_params, clock=_clock(request, scope))
    shown = await service.get(scope, function_id)
    series = await _telemetry(request).read_metrics(
        scope.project.id,
        SOURCE,
        str(shown.row.id),
        filters,
        interval=interval,
        timezone=scope.project.timezone,
    )
    named = [{"name": name, "values": values} for name, values in series.series.items()]
    return json_response(request, {"labels": series.labels, "series": named})


def _clock(request: Request, scope: ProjectScope) -> DateClock:
    project = scope.project
    return DateClock(service_of(request).clock.now(), project.timezone, project.week_start_day)


@router.get(ONE + "/metrics/totals")
async def get_totals(request: Request, function_id: str, scope: Reads) -> Response:
    """Row 10."""
    service = service_of(request)
    filters = read_metric_filters(
        request.query_params, clock=_clock(request, scope), with_instance=False
    )
    shown = await service.get(scope, function_id)
    totals = await _telemetry(request).read_totals(
        scope.project.id, SOURCE, str(shown.row.id), filters
    )
    return json_response(request, {"totals": totals})


@router.post(ONE + "/enable_backfills")
async def enable_backfills(request: Request, function_id: str, scope: Writes) -> Response:
    """Row 6."""
    made = await _backfills(request).enable(scope, function_id)
    return json_response(request, {"batch_export_id": str(made)})


@router.post(ONE + "/invocations")
async def create_test_run(request: Request, function_id: str, scope: Writes) -> Response:
    """Row 7: a test run; ``new`` is a function that is not stored."""
    trials: TestRunService = request.app.state.trials
    body = await read_object(request)
    try:
        return json_response(request, await trials.run(scope, function_id, body))
    except Bug as error:
        error.extra = {**error.extra, "status": "error"}
        raise


@router.post("/batch_exports/{batch_export_id}/backfills")
async def start_backfill(request: Request, batch_export_id: str, scope: Writes) -> Response:
    """Run a function on the stored events of a window.

    Source: docs/spec/hog-functions.md#91-enable_backfills.
    """
    body = await read_object(request)
    return JsonResponse(
        await _backfills(request).start(scope, batch_export_id, body), status_code=201
    )


@router.get("/batch_exports/{batch_export_id}/backfills")
async def list_backfills(request: Request, batch_export_id: str, scope: Reads) -> Response:
    """Backfills of a function, newest first."""
    page = parse_page(request.query_params)
    count, shown = await _backfills(request).page(scope, batch_export_id, page)
    return JsonResponse(envelope(request, page, count, shown))


@router.get("/batch_exports/{batch_export_id}/backfills/{backfill_id}")
async def get_backfill(
    request: Request, batch_export_id: str, backfill_id: str, scope: Reads
) -> Response:
    """One backfill with its progress."""
    return JsonResponse(await _backfills(request).get(scope, batch_export_id, backfill_id))


@router.post("/batch_exports/{batch_export_id}/backfills/{backfill_id}/{verb}")
async def control_backfill(
    request: Request, batch_export_id: str, backfill_id: str, verb: str, scope: Writes
) -> Response:
    """Pause, resume or cancel a backfill."""
    if verb not in ("pause", "resume", "cancel"):
        raise NotFound
    backfills = _backfills(request)
    return JsonResponse(await backfills.control(scope, batch_export_id, backfill_id, verb))


def _telemetry(request: Request) -> Telemetry:
    telemetry: Telemetry = request.app.state.telemetry
    return telemetry


def _backfills(request: Request) -> Backfills:
    backfills: Backfills = request.app.state.backfills
    return backfills
