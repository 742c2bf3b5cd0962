"""How a project is doing: figures, events per minute, failing functions, slow endpoints."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.charts import chart_frame
from hoglet.console.components.data_table import Row, column
from hoglet.console.components.live_table import LiveTable
from hoglet.console.components.polling import poll_while_visible
from hoglet.console.pages.functions.functions import status_of
from hoglet.console.pages.functions.recent_runs import runs_by_hour
from hoglet.console.widgets import Link, Text, empty, section

_REFRESH_SECONDS = 10.0
_MINUTES = (
    "SELECT toStartOfMinute(timestamp) AS minute, count() FROM events "
    "WHERE timestamp > now() - INTERVAL 1 HOUR AND timestamp <= now() "
    "GROUP BY minute ORDER BY minute LIMIT 100"
)
_SLOWEST = (
    "SELECT endpoint, count() AS runs, round(quantile(0.95)(query_duration_ms)) AS p95, "
    "countIf(status != 'QueryFinish') AS errors FROM query_log "
    "WHERE endpoint != '' AND event_time > now() - INTERVAL 1 DAY "
    "GROUP BY endpoint ORDER BY p95 DESC, endpoint LIMIT 10"
)
_GAUGE = re.compile(
    rb"^(hoglet_dead_letters|hoglet_spool_lag_seconds|hoglet_disk_free_bytes) (\S+)", re.MULTILINE
)


class Overview:
    """Updated every ten seconds, in place, so that the focus stays.

    Args:
        backend: API client of the signed-in user.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._project = f"/project/{backend.project_id}"
        self._figures: dict[str, tuple[ui.element, ui.label]] = {}
        self._chart: ui.echart | None = None

    async def draw(self) -> None:
        """Render it."""
        self._figure_box = ui.element("div").classes("figures").mark("figures")
        self._chart_box = ui.element("div").classes("pane")
        with ui.element("div").classes("split halves"):
            with ui.element("div").classes("pane"), section("Failing functions"):
                self._failing = _failing_table()
            with ui.element("div").classes("pane"), section("Slowest endpoints, 24 h"):
                self._slowest = _slowest_table()
        await self._refresh()
        poll_while_visible(_REFRESH_SECONDS, self._refresh)

    async def _refresh(self) -> None:
        minutes = await self._backend.hogql(_MINUTES)
        now = datetime.now(ZoneInfo(self._backend.zone))
        counts = _last_hour(_rows(minutes.body), now)
        await self._show_figures(sum(counts.values()))
        self._show_chart(counts)
        await self._show_failing()
        await self._show_slowest()

    async def _show_figures(self, events: int) -> None:
        metrics = await self._backend.call("GET", "/metrics")
        gauges = {name.decode(): float(value) for name, value in _GAUGE.findall(metrics.text)}
        dead_letters = gauges.get("hoglet_dead_letters")
        lag = gauges.get("hoglet_spool_lag_seconds")
        free = gauges.get("hoglet_disk_free_bytes")
        recent = f"{self._project}/events?after=-1h"
        status = f"/status?project={self._backend.project_id}"
        self._figure("events in the last hour", f"{events:,}", recent)
        rate = events / 60
        self._figure("events per minute", "< 0.1" if 0 < rate < 0.1 else f"{rate:,.1f}", recent)
        if dead_letters is not None:
            dead = f"{self._project}/dead-letters"
            self._figure("dead letters", f"{dead_letters:,.0f}", dead, is_bad=dead_letters > 0)
        if lag is not None:
            self._figure("ingestion lag", f"{lag:.0f} s", status, is_bad=lag > 60)
        if free is not None:
            self._figure("disk free", f"{free / 1e9:,.1f} GB", status, is_bad=free < 1e9)

    def _figure(self, label: str, value: str, href: str, *, is_bad: bool = False) -> None:
        if label not in self._figures:
            with self._figure_box, Link("", href) as box:
                self._figures[label] = box, ui.label(value).classes("value")
                ui.label(label).classes("muted text-sm")
        box, figure = self._figures[label]
        box.classes(replace="figure danger" if is_bad else "figure")
        figure.set_text(value)

    def _show_chart(self, counts: dict[str, int]) -> None:
        if not any(counts.values()):
            self._chart = None
            self._chart_box.clear()
            return
        options = chart_frame(list(counts))
        options["yAxis"]["minInterval"] = 1
        options["legend"]["show"] = False
        options["grid"] = {"left": 48, "right": 8, "top": 12, "bottom": 28}
        options["series"] = [{"name": "Events", "type": "bar", "data": list(counts.values())}]
        if self._chart is not None:
            self._chart.options.update(options)
            self._chart.update()
            return
        with self._chart_box:
            Text("h2", f"Events per minute, times in {self._backend.zone}")
            self._chart = ui.echart(options).classes("w-full").style("height: 10rem")

    async def _show_failing(self) -> None:
        reply = await self._backend.get("/hog_functions", limit=1000)
        if not reply.is_good:
            self._failing.fail(reply)
            return
        hours = await runs_by_hour(self._backend, datetime.now(UTC))
        rows: list[Row] = [
            {
                "id": function["id"],
                "name": function["name"] or "Untitled",
                "href": f"{self._project}/functions/{function['id']}?tab=Failed",
                "state": status_of(function)[0],
                "state_tone": status_of(function)[1],
                "runs": hours.get(function["id"]),
                "runs_note": "runs by hour",
                "failed": sum(bad for _, bad in hours.get(function["id"], [])),
            }
            for function in reply.body["results"]
        ]
        rows = [row for row in rows if row["failed"] or row["state_tone"] in {"warn", "danger"}]
        self._failing.show(sorted(rows, key=lambda row: row["failed"], reverse=True))

    async def _show_slowest(self) -> None:
        reply = await self._backend.hogql(_SLOWEST)
        if not reply.is_good:
            self._slowest.fail(reply)
            return
        names = ("name", "runs", "p95", "errors")
        self._slowest.show(
            [
                dict(zip(names, row, strict=True))
                | {"href": f"{self._project}/endpoints/{quote(row[0])}?tab=Usage"}
                for row in reply.body["results"]
            ]
        )


def _failing_table() -> LiveTable:
    columns = [
        column("name", "Name", "link"),
        column("state", "State", "badge"),
        column("runs", "Runs in 24 h", "spark"),
        column("failed", "Failed", "number"),
    ]
    hint = "Functions whose runs failed in 24 h are listed here."
    nothing = lambda: empty("Nothing failed", hint, "done_all")  # noqa: E731
    return LiveTable("Failing functions", columns, nothing, page_size=10)


def _slowest_table() -> LiveTable:
    columns = [
        column("name", "Name", "link"),
        column("runs", "Runs", "number"),
        column("p95", "p95 in ms", "number"),
        column("errors", "Errors", "number"),
    ]
    hint = "Endpoints that were run in 24 h are listed here."
    nothing = lambda: empty("No runs", hint, "api")  # noqa: E731
    return LiveTable("Slowest endpoints", columns, nothing, key="name")


def _rows(body: Any) -> list[list[Any]]:
    return body["results"] if isinstance(body, dict) and "results" in body else []


def _last_hour(rows: list[list[Any]], now: datetime) -> dict[str, int]:
    """Events by minute, including minutes without any: ``{"17:54": 60, "17:55": 0, ...}``."""
    counts = {minute[11:16]: int(count) for minute, count in rows}
    minutes = [now - timedelta(minutes=ago) for ago in range(60, -1, -1)]
    return {f"{minute:%H:%M}": counts.get(f"{minute:%H:%M}", 0) for minute in minutes}
