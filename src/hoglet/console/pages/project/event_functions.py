"""The functions that an event runs, and why the others do not; a page of functions at a time."""

import asyncio

from nicegui import ui

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.data_table import DataTable, Row, column
from hoglet.console.records.functions import FunctionRecord
from hoglet.console.records.project import EventRecord
from hoglet.console.widgets import empty, failed, notify_failure

_PAGE = 50
_AT_ONCE = 4
_TYPES = "destination,transformation"  # those that events run
_COLUMNS = [
    column("name", "Function (opens a test)", "link"),
    column("runs", "Would it run now?", "badge"),
    column("reason", "Why not", "mono"),
]


class EventFunctions:
    """Asks of each function whether the event would run it.

    Args:
        backend: the user's.
        event: from the API.
    """

    def __init__(self, backend: Backend, event: EventRecord) -> None:
        self._backend = backend
        self._event = event
        self._rows: list[Row] = []
        self._next: dict[str, str] | None = {"type": _TYPES, "limit": str(_PAGE)}
        self._limit = asyncio.Semaphore(_AT_ONCE)

    def draw(self) -> None:
        """Render a sign of the work; ``show_later`` replaces it by the functions."""
        self._box = ui.element("div").classes("pane")
        with self._box, ui.element("div").classes("toolbar"):
            ui.spinner(size="1em")
            ui.label("Explaining …").props("role=status").classes("muted")

    def show_later(self) -> None:
        """Show the functions when the page is open; call it when the rest is drawn.

        The page is sent as soon as it has a timer, without what is still missing then.
        """
        ui.timer(0.0, self._show, once=True)

    async def _show(self) -> None:
        reply = await self._explain_page()
        self._box.clear()
        with self._box:
            if not reply.is_good:
                failed(reply)
            elif not self._rows:
                empty("No functions", "Functions that events run are listed here.", "bolt")
            else:
                self._table = DataTable(
                    "Functions and this event",
                    _COLUMNS,
                    self._rows,
                    on_more=self._add,
                    has_more=self._next is not None,
                )

    async def _add(self) -> None:
        if notify_failure(await self._explain_page()):
            self._table.set_rows(self._rows, has_more=self._next is not None)

    async def _explain_page(self) -> Reply:
        """Explain the next functions of the list, those that would run first."""
        requested = self._next or {}
        reply = await self._backend.get("/hog_functions", **requested)
        if reply.is_good:
            self._next = reply.next_page
            rows = await asyncio.gather(*map(self._explained, reply.body["results"]))
            self._rows = sorted([*self._rows, *rows], key=lambda row: row["runs_tone"] != "ok")
        return reply

    async def _explained(self, function: FunctionRecord) -> Row:
        path = f"/hog_functions/{function['id']}/explain_match"
        async with self._limit:
            answer = await self._backend.send("POST", path, {"event_uuid": self._event["id"]})
        would_run = answer.is_good and answer.body["would_run"]
        functions = f"/project/{self._backend.project_id}/functions"
        return {
            "id": function["id"],
            "name": function["name"] or "Untitled",
            "href": f"{functions}/{function['id']}?event={self._event['id']}",
            "runs": "runs" if would_run else "does not run",
            "runs_tone": "ok" if would_run else "",
            "reason": (answer.body["reason"] or "") if answer.is_good else answer.problem,
        }
