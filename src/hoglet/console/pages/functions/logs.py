"""The log table of functions and endpoints, with live updates."""

import re
from collections import Counter

from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import DataTable, Row, column
from hoglet.console.components.polling import poll_while_visible
from hoglet.console.records import FunctionLogEntry
from hoglet.console.widgets import empty, failed, send_events_link

_LEVELS = {
    "": "All levels",
    "ERROR": "Errors",
    "WARN": "Warnings",
    "INFO": "Info",
    "DEBUG": "Debug",
}
LEVEL_TONES = {"ERROR": "danger", "WARN": "warn", "INFO": "busy"}
OF_EVENT = re.compile(r"^Error executing function on event ([^\s/]+): ")
_LINES = 200
_LIVE_SECONDS = 2.0


async def logs_panel(
    backend: Backend, path: str, hint: str, *, comes_from_events: bool = False
) -> None:
    """Filters and the newest lines.

    Args:
        backend: API client of the signed-in user.
        path: the path of the log, ``/hog_functions/<id>/logs``.
        hint: shown if there are no lines.
        comes_from_events: if there are no lines, link to the page that sends an event.
    """
    with ui.row().classes("w-full items-center gap-2"):
        level = ui.select(_LEVELS, value="").props("dense outlined options-dense").classes("w-40")
        level.props('aria-label="Level"')
        search = ui.input(placeholder="Search").props("dense outlined clearable debounce=300")
        search.props('aria-label="Search messages"')
        ui.space()
        live = ui.switch("Live", value=True)

    box = ui.element("div").classes("pane")
    shown: list[FunctionLogEntry] | None = None
    table: DataTable | None = None

    async def show() -> None:
        """Update in place, so that focus and scroll position are kept."""
        nonlocal shown, table
        reply = await backend.get(
            path, limit=_LINES, level=level.value or None, search=search.value or None
        )
        entries: list[FunctionLogEntry] = reply.body["results"] if reply.is_good else []
        if reply.is_good and entries == shown:
            return
        shown = entries if reply.is_good else None
        if table is not None and entries:
            table.set_rows(_rows(entries, backend.project_id))
            return
        box.clear()
        with box:
            table = _table(entries, backend.project_id) if entries else None
            if not reply.is_good:
                failed(reply)
            elif not entries and (level.value or search.value):
                empty("No log lines match", "Choose another level or search text.", "search_off")
            elif not entries:
                with empty("No log lines", hint, "subject"):
                    if comes_from_events:
                        send_events_link(backend.project_id)

    async def follow() -> None:
        if live.value:
            await show()

    level.on_value_change(show)
    search.on_value_change(show)
    await show()
    poll_while_visible(_LIVE_SECONDS, follow)


def _rows(entries: list[FunctionLogEntry], project_id: str) -> list[Row]:
    return [
        {
            "id": key,
            "time": entry["timestamp"],
            "level": entry["level"],
            "level_tone": LEVEL_TONES.get(entry["level"], ""),
            **message_cell(entry["message"], project_id),
        }
        for key, entry in zip(_keys(entries), entries, strict=True)
    ]


def message_cell(message: str, project_id: str) -> Row:
    """A message without the common prefix of errors; an event in the prefix becomes a link.

    Example:
        >>> message_cell("Error executing function on event 0190f7a0: no", "1")["message"]
        'no'
    """
    found = OF_EVENT.match(message)
    if found is None:
        return {"message": message}
    return {
        "message": message[found.end() :],
        "message_link": "Event",
        "message_href": f"/project/{project_id}/events/{found[1]}",
    }


def _keys(entries: list[FunctionLogEntry]) -> list[str]:
    """A stable key for each line, even when newer lines arrive; equal lines are numbered."""
    seen: Counter[str] = Counter()
    keys: list[str] = []
    for entry in reversed(entries):  # from the oldest line
        text = f"{entry['timestamp']} {entry['instance_id']} {entry['message']}"
        seen[text] += 1
        keys.append(f"{text} {seen[text]}")
    return keys[::-1]


def _table(entries: list[FunctionLogEntry], project_id: str) -> DataTable:
    columns = [
        column("time", "Time", "time"),
        column("level", "Level", "badge"),
        column("message", "Message", "mono"),
    ]
    rows = _rows(entries, project_id)
    return DataTable("Log lines", columns, rows, page_size=100, follows=True).mark("logs")
