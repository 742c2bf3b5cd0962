"""Counts and lists the newest events that a function matches, while its filters are edited."""

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import DataTable, column
from hoglet.console.records.functions import MatchCountRecord, MatchedEventRecord
from hoglet.console.records.project import RequestBody

_PAUSE_SECONDS = 0.6
_COLUMNS = [
    column("event", "Event", "link"),
    column("distinct_id", "Distinct id"),
    column("timestamp", "Time", "time"),
]


class MatchCounter:
    """The count, updated a moment after each change.

    Args:
        backend: API client of the signed-in user.
        path: the path of the function, ``/hog_functions/<id>``.
        subject: what to count: ``{"configuration": {...}}``, with ``draft`` for a draft.
        on_choose: called with the UUID of a matching event; None if events cannot be tested.
    """

    def __init__(
        self,
        backend: Backend,
        path: str,
        subject: Callable[[], RequestBody],
        on_choose: Callable[[str], Awaitable[None]] | None,
    ) -> None:
        self._backend = backend
        self._path = path
        self._subject = subject
        self._on_choose = on_choose
        self._timer: ui.timer | None = None
        self._changes = 0

    def draw(self) -> None:
        """Render the count and start counting."""
        self._box = ui.element("div").classes("pane")
        with self._box, ui.element("div").classes("toolbar"):
            self._label = ui.label("Counting matching events …").props("role=status")
            self._label.classes("font-medium").mark("matches")
            self._busy = ui.spinner(size="1em")
        with self._box:
            self._list = ui.element("div").classes("pane")
        self.recount(pause=0.0)

    def recount(self, *, pause: float = _PAUSE_SECONDS) -> None:
        """Count after a pause, unless another change follows."""
        self._changes += 1
        self._busy.set_visibility(True)
        if self._timer is not None:
            self._timer.cancel()
        with self._box:
            self._timer = ui.timer(pause, self._count, once=True)

    async def _count(self) -> None:
        change = self._changes
        reply = await self._backend.send("POST", f"{self._path}/count_matches", self._subject())
        if change != self._changes or self._box.is_deleted:
            return
        self._busy.set_visibility(False)
        self._list.clear()
        if not reply.is_good:
            self._label.set_text(reply.problem)
            return
        self._label.set_text(count_text(reply.body))
        with self._list:
            if reply.body["error"]:
                ui.label(reply.body["error"]).classes("field-error")
            if reply.body["events"]:
                self._examples(reply.body["events"])

    def _examples(self, events: list[MatchedEventRecord]) -> None:
        project = f"/project/{self._backend.project_id}"
        rows = [
            {**event, "href": f"{project}/events/{event['uuid']}", "test": "Test"}
            for event in events
        ]
        columns = _COLUMNS if self._on_choose is None else [*_COLUMNS, column("test", "", "button")]
        with ui.expansion("Newest matching events").classes("w-full"):
            DataTable(
                "Matching events", columns, rows, key="uuid", page_size=5, on_action=self._choose
            )

    async def _choose(self, uuid: str, _column: str, _value: Any) -> None:
        if self._on_choose is not None:
            await self._on_choose(uuid)


def count_text(count: MatchCountRecord) -> str:
    """The count as a sentence.

    Example:
        >>> count_text({"matched": 312, "examined": 10000, "complete": True})
        'Matches 312 of the last 10,000 events.'
    """
    matched, examined = count["matched"], count["examined"]
    if not examined and count["complete"]:
        return "No events yet. The number of matching events appears here."
    if not count["complete"]:
        return f"Matches {matched:,} of the last {examined:,} events; counting more takes too long."
    return f"Matches {matched:,} of the last {examined:,} events."
