"""The log table shared by functions and endpoints."""

from typing import Any

from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import DataTable, column
from hoglet.console.widgets import empty, failed

_LEVELS = {
    "": "All levels",
    "ERROR": "Errors",
    "WARN": "Warnings",
    "INFO": "Info",
    "DEBUG": "Debug",
}
LEVEL_TONES = {"ERROR": "danger", "WARN": "warn", "INFO": "busy"}
_LINES = 200
_LIVE_SECONDS = 2.0


async def logs_panel(backend: Backend, path: str, hint: str) -> None:
    """Filters and the newest lines; ``hint`` is shown if there are none."""
    with ui.row().classes("w-full items-center gap-2"):
        level = ui.select(_LEVELS, value="").props("dense outlined options-dense").classes("w-40")
        level.props('aria-label="Level"')
        search = ui.input(placeholder="Search").props("dense outlined clearable debounce=300")
        search.props('aria-label="Search messages"')
        ui.space()
        live = ui.switch("Live")
        again = ui.button("Refresh", icon="refresh").props("flat no-caps")

    @ui.refreshable
    async def lines() -> None:
        reply = await backend.get(
            path, limit=_LINES, level=level.value or None, search=search.value or None
        )
        if not reply.is_good:
            failed(reply)
        elif not reply.body["results"]:
            empty("No log lines", hint, "subject")
        else:
            _table(reply.body["results"])

    level.on_value_change(lines.refresh)
    search.on_value_change(lines.refresh)
    again.on_click(lines.refresh)
    timer = ui.timer(_LIVE_SECONDS, lines.refresh, active=False)
    live.on_value_change(lambda event: setattr(timer, "active", event.value))
    await lines()


def _table(entries: list[dict[str, Any]]) -> None:
    rows = [
        {
            "id": index,
            "time": entry["timestamp"],
            "level": entry["level"],
            "level_tone": LEVEL_TONES.get(entry["level"], ""),
            "message": entry["message"],
        }
        for index, entry in enumerate(entries)
    ]
    columns = [
        column("time", "Time", "time"),
        column("level", "Level", "badge"),
        column("message", "Message", "mono"),
    ]
    DataTable("Log lines", columns, rows, page_size=100).mark("logs")
