"""The home page: the way to a first event, and after it how the project is doing."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.charts import chart_frame
from hoglet.console.components.data_table import DataTable, column
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.pages.functions.functions import status_of
from hoglet.console.pages.functions.recent_runs import runs_by_hour
from hoglet.console.session import Sessions
from hoglet.console.snippets import snippets
from hoglet.console.source_excerpt import code_block
from hoglet.console.widgets import Link, Text, empty, failed, heading, moment, notify, section

type Json = dict[str, Any]

_EVER = "1970-01-01T00:00:00Z"
_POLL_SECONDS = 1.0
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
_DAILY = (
    "SELECT toDate(timestamp) AS day, count(DISTINCT person_id) AS users\nFROM events\n"
    "WHERE timestamp > now() - INTERVAL 30 DAY\nGROUP BY day\nORDER BY day"
)
_GAUGE = re.compile(
    rb"^(hoglet_dead_letters|hoglet_spool_lag_seconds|hoglet_disk_free_bytes) (\S+)", re.MULTILINE
)


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page("/project/{project_id}", title="Home · hoglet", response_timeout=BUILD_SECONDS)
    async def home(request: Request, project_id: str) -> Response | None:
        async def build(backend: Backend) -> None:
            address = f"{request.url.scheme}://{request.url.netloc}"
            await _Home(backend, address).draw()

        return await signed_in_page(sessions, request, project_id, section="", build=build)


class _Home:
    def __init__(self, backend: Backend, address: str) -> None:
        self._backend = backend
        self._address = address
        self._project = f"/project/{backend.project_id}"

    async def draw(self) -> None:
        reply = await self._backend.call("GET", f"/api/projects/{self._backend.project_id}")
        if not reply.is_good:
            failed(reply)
            return
        heading(reply.body["name"])
        if await self._first_event() is None:
            self._first_run(reply.body["api_token"])
        else:
            await self._overview()

    async def _first_event(self) -> Json | None:
        reply = await self._backend.get("/events", limit=1, after=_EVER)
        return reply.body["results"][0] if reply.is_good and reply.body["results"] else None

    # --- before the first event ---

    def _first_run(self, token: str) -> None:
        with section("1. Send an event"):
            ui.label("The token of this project. It can send events and read nothing.")
            code_block(token)
            shown = snippets(self._address, token)
            with ui.tabs().props("align=left no-caps dense") as bar:
                for name in shown:
                    ui.tab(name)
            with ui.tab_panels(bar, value=next(iter(shown)), animated=False).classes("w-full"):
                for name, text in shown.items():
                    with ui.tab_panel(name).classes("px-0"):
                        code_block(text, wraps=True)
            with ui.element("div").classes("notice").props('role="status"') as waiting:
                ui.element("span").classes("waiting").style("margin-top: 6px")
                ui.label("Waiting for your first event …")
        with section("2. Use it"):
            self._starters()

        async def poll() -> None:
            event = await self._first_event()
            if event is not None:
                timer.deactivate()
                waiting.clear()
                with waiting:
                    self._arrived(event)

        timer = ui.timer(_POLL_SECONDS, poll)

    def _arrived(self, event: Json) -> None:
        ui.icon("check_circle").classes("text-xl")
        with ui.row().classes("gap-2"):
            ui.label("Your first event arrived:")
            stamp = quote(event["timestamp"], safe="")
            Link(event["event"], f"{self._project}/events/{event['id']}/{stamp}")
            moment(event["timestamp"])

    def _starters(self) -> None:
        starters = (
            (
                "Send sign-ups to a webhook",
                "A destination that posts every signup event to a URL of yours.",
                self._webhook,
            ),
            (
                "Drop bot traffic",
                "A transformation that drops events of known bots before they are stored.",
                self._bots,
            ),
            (
                "Daily active users",
                "An endpoint that your program calls for users by day.",
                self._users,
            ),
        )
        with ui.element("div").classes("grid"):
            for title, text, create in starters:
                with ui.element("div").classes("card"):
                    Text("h3", title)
                    ui.label(text).classes("muted")
                    button = ui.button("Create", on_click=create).props("outline")
                    button.props["aria-label"] = f"Create: {title}"

    async def _webhook(self) -> None:
        await self._create_function(
            {
                "type": "destination",
                "template_id": "template-webhook",
                "name": "Send sign-ups to a webhook",
                "inputs": {"url": {"value": "https://example.com/webhook"}},
                "filters": {"events": [{"id": "signup", "type": "events"}]},
            },
            "Set the URL, test it, then enable it.",
        )

    async def _bots(self) -> None:
        await self._create_function(
            {
                "type": "transformation",
                "template_id": "template-bot-detection",
                "name": "Drop bot traffic",
            },
            "Look at it, then enable it.",
        )

    async def _create_function(self, body: Json, done: str) -> None:
        reply = await self._backend.send("POST", "/hog_functions", body | {"enabled": False})
        if notify(reply, done):
            ui.navigate.to(f"{self._project}/functions/{reply.body['id']}")

    async def _users(self) -> None:
        name = "daily_active_users"
        body = {"name": name, "query": {"kind": "HogQLQuery", "query": _DAILY}}
        existing = await self._backend.get(f"/endpoints/{name}")
        if not existing.is_good:
            existing = await self._backend.send("POST", "/endpoints", body)
        if notify(existing, "Ready to be called."):
            ui.navigate.to(f"{self._project}/endpoints/{name}")

    # --- with events ---

    async def _overview(self) -> None:
        @ui.refreshable
        async def current() -> None:
            await self._figures()
            with ui.element("div").classes("split aside"):
                with ui.element("div").classes("pane"), section("Functions that fail"):
                    await self._failing()
                with ui.element("div").classes("pane"), section("Slowest endpoints, 24 h"):
                    await self._slowest()

        await current()
        ui.timer(_REFRESH_SECONDS, current.refresh, immediate=False)
        with section("Start something"):
            self._starters()

    async def _figures(self) -> None:
        minutes = await self._backend.hogql(_MINUTES)
        now = datetime.now(ZoneInfo(self._backend.zone))
        counts = _last_hour(_rows(minutes.body), now)
        metrics = await self._backend.call("GET", "/metrics")
        gauges = {name.decode(): float(value) for name, value in _GAUGE.findall(metrics.text)}
        letters = gauges.get("hoglet_dead_letters")
        lag = gauges.get("hoglet_spool_lag_seconds")
        free = gauges.get("hoglet_disk_free_bytes")
        with ui.element("div").classes("figures").mark("figures"):
            events = f"{self._project}/events?after=-1h"
            _figure("events in the last hour", f"{sum(counts.values()):,}", events)
            _figure("events a minute", f"{sum(counts.values()) / 60:,.1f}", events)
            if letters is not None:
                dead = f"{self._project}/dead-letters"
                _figure("dead letters", f"{letters:,.0f}", dead, is_bad=letters > 0)
            if lag is not None:
                _figure("ingestion lag", f"{lag:.0f} s", "/status", is_bad=lag > 60)
            if free is not None:
                _figure("disk free", f"{free / 1e9:,.1f} GB", "/status", is_bad=free < 1e9)
        if any(counts.values()):
            Text("h2", f"Events a minute, times in {self._backend.zone}")
            options = chart_frame(list(counts))
            options["yAxis"]["minInterval"] = 1
            options["legend"]["show"] = False
            options["grid"] = {"left": 48, "right": 8, "top": 12, "bottom": 28}
            options["series"] = [{"name": "Events", "type": "bar", "data": list(counts.values())}]
            ui.echart(options).classes("w-full").style("height: 10rem")

    async def _failing(self) -> None:
        reply = await self._backend.get("/hog_functions", limit=1000)
        if not reply.is_good:
            failed(reply)
            return
        hours = await runs_by_hour(self._backend, datetime.now(UTC))
        rows: list[Json] = [
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
        rows.sort(key=lambda row: row["failed"], reverse=True)
        if not rows:
            empty(
                "Nothing failed", "Functions whose runs failed in 24 h are listed here.", "done_all"
            )
            return
        columns = [
            column("name", "Name", "link"),
            column("state", "State", "badge"),
            column("runs", "Runs in 24 h", "spark"),
            column("failed", "Failed", "number"),
        ]
        DataTable("Functions that fail", columns, rows, page_size=10)

    async def _slowest(self) -> None:
        reply = await self._backend.hogql(_SLOWEST)
        if not reply.is_good:
            failed(reply)
        elif not reply.body["results"]:
            empty("No runs", "Endpoints that were run in 24 h are listed here.", "api")
        else:
            names = ("name", "runs", "p95", "errors")
            rows = [
                dict(zip(names, row, strict=True))
                | {"href": f"{self._project}/endpoints/{quote(row[0])}?tab=Usage"}
                for row in reply.body["results"]
            ]
            columns = [
                column("name", "Name", "link"),
                column("runs", "Runs", "number"),
                column("p95", "p95 in ms", "number"),
                column("errors", "Errors", "number"),
            ]
            DataTable("Slowest endpoints", columns, rows, key="name")


def _rows(body: Any) -> list[list[Any]]:
    return body["results"] if isinstance(body, dict) and "results" in body else []


def _last_hour(rows: list[list[Any]], now: datetime) -> dict[str, int]:
    """Events by minute, also of minutes without any: ``{"17:54": 60, "17:55": 0, ...}``."""
    counts = {minute[11:16]: int(count) for minute, count in rows}
    minutes = [now - timedelta(minutes=ago) for ago in range(60, -1, -1)]
    return {f"{minute:%H:%M}": counts.get(f"{minute:%H:%M}", 0) for minute in minutes}


def _figure(label: str, value: str, href: str, *, is_bad: bool = False) -> None:
    with Link("", href).classes("figure danger" if is_bad else "figure"):
        ui.label(value).classes("value")
        ui.label(label).classes("muted text-sm")
