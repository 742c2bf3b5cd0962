"""The log table of functions and endpoints, with live updates."""

import re
from collections import Counter

from nicegui import ui

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.data_table import DataTable, Handler, Row, column
from hoglet.console.components.followed_list import FollowedList
from hoglet.console.components.polling import poll_while_visible
from hoglet.console.records.functions import FunctionLogEntry
from hoglet.console.widgets import empty, failed, notify_failure, send_events_link

_LEVELS = {
    "": "All levels",
    "ERROR": "Errors",
    "WARN": "Warnings",
    "INFO": "Info",
    "DEBUG": "Debug",
}
LEVEL_TONES = {"ERROR": "danger", "WARN": "warn", "INFO": "busy"}
OF_EVENT = re.compile(r"^Error executing function on event ([^\s/]+): ")
_EVENT_URL = re.compile(r" Event: '[^']*/events/([^/']+)/[^/']*'$")  # after a run's figures
_LINES = 200
_LIVE_SECONDS = 2.0


class LogPanel:
    """Filters and the newest lines; older ones on demand.

    Args:
        backend: API client of the signed-in user.
        path: the path of the log, ``/hog_functions/<id>/logs``.
        hint: shown if there are no lines.
        comes_from_events: if there are no lines, link to the page that sends an event.
    """

    def __init__(
        self, backend: Backend, path: str, hint: str, *, comes_from_events: bool = False
    ) -> None:
        self._backend = backend
        self._path = path
        self._hint = hint
        self._comes_from_events = comes_from_events
        self._lines = FollowedList[FunctionLogEntry](lambda line: tuple(map(str, line.values())))
        self._table: DataTable | None = None
        self._is_drawn = False

    async def draw(self) -> None:
        """Render it."""
        with ui.row().classes("w-full items-center gap-2"):
            self._level = ui.select(_LEVELS, value="").classes("w-40")
            self._level.props('dense outlined options-dense aria-label="Level"')
            self._search = ui.input(placeholder="Search")
            self._search.props('dense outlined clearable debounce=300 aria-label="Search messages"')
            ui.space()
            self._live = ui.switch("Live", value=True)
        self._box = ui.element("div").classes("pane")
        self._level.on_value_change(self._filter)
        self._search.on_value_change(self._filter)
        await self._show()
        poll_while_visible(_LIVE_SECONDS, self._follow)

    async def _follow(self) -> None:
        if self._live.value:
            await self._show()

    async def _filter(self) -> None:
        self._lines.clear()
        self._is_drawn = False
        await self._show()

    async def _read(self, before: str | None = None) -> Reply:
        level, search = self._level.value or None, self._search.value or None
        return await self._backend.get(
            self._path, limit=_LINES, before=before, level=level, search=search
        )

    async def _show(self) -> None:
        """Update in place, so that focus and scroll position are kept."""
        filters = (self._level.value, self._search.value)
        reply = await self._read()
        if filters != (self._level.value, self._search.value):
            return  # they were changed in the meantime
        if not reply.is_good:
            self._fail(reply)
            return
        entries: list[FunctionLogEntry] = reply.body["results"]
        has_changed = self._lines.take_newest(entries, _older(entries))
        if self._is_drawn and not has_changed:
            return
        if self._is_drawn and self._table is not None and entries:
            self._update(self._table)
        else:
            self._draw_all()

    def _fail(self, reply: Reply) -> None:
        self._lines.clear()
        self._is_drawn = False
        self._box.clear()
        with self._box:
            failed(reply)

    def _draw_all(self) -> None:
        self._box.clear()
        self._is_drawn, self._table = True, None
        with self._box:
            if self._lines.items:
                self._table = _table(self._lines, self._backend.project_id, self._load_older)
            elif self._level.value or self._search.value:
                empty("No log lines match", "Choose another level or search text.", "search_off")
            else:
                with empty("No log lines", self._hint, "subject"):
                    if self._comes_from_events:
                        send_events_link(self._backend.project_id)

    def _update(self, table: DataTable) -> None:
        rows = _rows(self._lines.items, self._backend.project_id)
        table.set_rows(rows, has_more=self._lines.older is not None)

    async def _load_older(self) -> None:
        older = self._lines.page()
        if older is None:
            return
        reply = await self._read(**older)
        if not notify_failure(reply):
            return
        entries: list[FunctionLogEntry] = reply.body["results"]
        is_current = self._lines.add_older(older, entries, _older(entries))
        if is_current and self._table is not None:
            self._update(self._table)


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
    """A message and a link to the event that it names at its begin or end.

    Example:
        >>> message_cell("Error executing function on event 0190f7a0: no", "1")["message"]
        'no'
    """
    if match := OF_EVENT.match(message):
        text = message[match.end() :]
    elif match := _EVENT_URL.search(message):
        text = message[: match.start()]
    else:
        return {"message": message}
    return {
        "message": text,
        "message_link": "Event",
        "message_href": f"/project/{project_id}/events/{match[1]}",
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


def _older(entries: list[FunctionLogEntry]) -> dict[str, str] | None:
    """The query of the lines before a full page."""
    return {"before": entries[-1]["timestamp"]} if len(entries) == _LINES else None


def _table(lines: FollowedList[FunctionLogEntry], project_id: str, on_more: Handler) -> DataTable:
    columns = [
        column("time", "Time", "time"),
        column("level", "Level", "badge"),
        column("message", "Message", "mono"),
    ]
    return DataTable(
        "Log lines",
        columns,
        _rows(lines.items, project_id),
        page_size=100,
        follows=True,
        on_more=on_more,
        has_more=lines.older is not None,
    ).mark("logs")
