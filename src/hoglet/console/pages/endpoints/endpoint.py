"""The page of one endpoint, with its usage: figures of the last month and a chart by day."""

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend, Reply
from hoglet.console.charts import metrics_chart, totals
from hoglet.console.components.polling import poll_while_visible
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.pages.endpoints.builds import builds_panel
from hoglet.console.pages.endpoints.endpoint_head import endpoint_head
from hoglet.console.pages.endpoints.endpoint_table import endpoint_table
from hoglet.console.pages.endpoints.query import query_panel
from hoglet.console.pages.endpoints.run import run_panel
from hoglet.console.pages.endpoints.versions import versions_panel
from hoglet.console.pages.functions.logs import LogPanel
from hoglet.console.pages.not_found import not_found_in
from hoglet.console.records.endpoints import EndpointRecord, EndpointUsageRecord, UsageDay
from hoglet.console.records.functions import ChartMetrics
from hoglet.console.session import Sessions
from hoglet.console.widgets import empty, failed, heading, legend, tabs

DAYS = 30
_AGAIN_SECONDS = 5.0


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page(
        "/project/{project_id}/endpoints/{name}",
        title="Endpoint · hoglet",
        response_timeout=BUILD_SECONDS,
    )
    async def endpoint(request: Request, project_id: str, name: str) -> Response | None:
        async def build(backend: Backend) -> None:
            ui.page_title(f"{name} · hoglet")
            await _build(backend, f"/endpoints/{name}")

        return await signed_in_page(sessions, request, project_id, section="endpoints", build=build)


async def _build(backend: Backend, path: str) -> None:
    reply = await backend.get(path)
    if reply.status == 404:
        not_found_in("endpoints", "There is no such endpoint", backend.project_id)
        return
    if not reply.is_good:
        heading("Endpoint")
        failed(reply)
        return
    record: EndpointRecord = reply.body
    endpoint_head(backend, path, record)
    endpoint_table(backend, path, record)
    await tabs(
        {
            "Run": lambda: run_panel(backend, path, record),
            "Query": lambda: query_panel(backend, path, record),
            "Versions": lambda: versions_panel(backend, path),
            "Builds": lambda: builds_panel(backend, path, record["materialization"]),
            "Usage": lambda: usage_panel(backend, path),
            "Logs": LogPanel(backend, f"{path}/logs", "Runs are logged here.").draw,
        }
    )


async def usage_panel(backend: Backend, path: str) -> None:
    """Runs, errors, durations and cache hits; updated while the page is open."""
    box = ui.element("div").classes("pane")
    drawn: Reply | None = None

    async def show() -> None:
        nonlocal drawn
        reply = await backend.get(f"{path}/usage", days=DAYS)
        if drawn is not None and reply.body == drawn.body:
            return
        drawn = reply
        box.clear()
        with box:
            _usage(reply)

    await show()
    poll_while_visible(_AGAIN_SECONDS, show)


def _usage(reply: Reply) -> None:
    if not reply.is_good:
        failed(reply)
        return
    usage: EndpointUsageRecord = reply.body
    if not usage["count"]:
        empty("No runs yet", f"Runs of the last {DAYS} days are counted here.", "bar_chart")
        return
    with ui.element("div").classes("figures").mark("usage"):
        for name, text in _figures(usage):
            with ui.element("div").classes("figure"):
                ui.label(text).classes("value")
                ui.label(name).classes("muted text-sm")
    series = _series(usage["days"])
    legend(totals(series))
    ui.echart(metrics_chart(series)).classes("w-full h-72")


def _figures(usage: EndpointUsageRecord) -> list[tuple[str, str]]:
    share = usage["cache_hit_share"]
    return [
        (f"runs in {DAYS} days", f"{usage['count']:,}"),
        ("errors", f"{usage['errors']:,}"),
        ("median", _duration(usage["p50_ms"])),
        ("p95", _duration(usage["p95_ms"])),
        ("from the cache", "–" if share is None else f"{share:.0%}"),
    ]


def _duration(milliseconds: float | None) -> str:
    if milliseconds is None:
        return "–"
    return f"{milliseconds:,} ms" if milliseconds >= 1 else "< 1 ms"


def _series(days: list[UsageDay]) -> ChartMetrics:
    good = [day["count"] - day["errors"] for day in days]
    return {
        "labels": [day["day"] for day in days],
        "series": [
            {"name": "succeeded", "values": good},
            {"name": "failed", "values": [day["errors"] for day in days]},
        ],
    }
