"""The materialization of an endpoint: its state, and a switch to turn it on and off."""

from datetime import datetime, timedelta

from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.records.endpoints import EndpointRecord, MaterializationRecord
from hoglet.console.widgets import badge, moment, notify

_INTERVALS = {
    "5min": ("5 minutes", timedelta(minutes=5)),
    "15min": ("15 minutes", timedelta(minutes=15)),
    "30min": ("30 minutes", timedelta(minutes=30)),
    "1hour": ("hour", timedelta(hours=1)),
    "6hour": ("6 hours", timedelta(hours=6)),
    "12hour": ("12 hours", timedelta(hours=12)),
    "24hour": ("day", timedelta(days=1)),
    "7day": ("7 days", timedelta(days=7)),
    "30day": ("30 days", timedelta(days=30)),
}
_STATES = {
    "off": ("not materialized", ""),
    "ready": ("ready", "ok"),
    "failed": ("failed", "danger"),
    "building": ("building", "busy"),
}
_AGAIN_SECONDS = 2.0


def table_state(materialization: MaterializationRecord) -> tuple[str, str]:
    """A label and a tone for the state of a materialization.

    Example:
        >>> table_state({"enabled": True, "ready": False, "status": "Running"})
        ('building', 'busy')
    """
    if not materialization["enabled"]:
        return _STATES["off"]
    if materialization["status"] == "Failed":
        return _STATES["failed"]
    return _STATES["ready" if materialization["ready"] else "building"]


def endpoint_table(backend: Backend, path: str, record: EndpointRecord) -> None:
    """Render the state; polled every two seconds during a build.

    Args:
        backend: API client of the signed-in user.
        path: the path of the endpoint, ``/endpoints/<name>``.
        record: the API record.
    """
    _Table(backend, path, record["materialization"]).draw()


class _Table:
    def __init__(self, backend: Backend, path: str, state: MaterializationRecord) -> None:
        self._backend = backend
        self._path = path
        self._state = state

    def draw(self) -> None:
        row = ui.row().classes("w-full items-center gap-x-4 gap-y-1 px-3 py-2 rounded border")
        self._row = row.mark("table-state")
        self._timer = ui.timer(_AGAIN_SECONDS, self._poll, active=False)
        self._show()

    async def _poll(self) -> None:
        reply = await self._backend.get(f"{self._path}/materialization_status")
        if not reply.is_good:
            self._timer.deactivate()
        elif reply.body != self._state:
            self._state = reply.body
            self._show()

    def _show(self) -> None:
        word, tone = table_state(self._state)
        self._timer.active = word == "building"
        self._row.clear()
        with self._row:
            ui.label("Materialization").classes("font-medium")
            badge(word, tone)
            built = self._state["last_materialized_at"] if self._state["enabled"] else None
            if built:
                _time("built", built)
                _time("next build", _next(self._state))
            for note in self._notes():
                ui.label(note).classes("text-sm opacity-80 break-words max-w-full")
            ui.space()
            if self._state["can_materialize"]:
                with ui.row().classes("items-center gap-2 no-wrap"):
                    self._controls()

    def _notes(self) -> list[str]:
        state = self._state
        if not state["enabled"]:
            can = "Store the result in a table, so that runs need not read all events."
            return [can if state["can_materialize"] else f"Not possible: {state.get('reason')}"]
        return [state["error"]] if state["error"] else []

    def _controls(self) -> None:
        words = {word: label for word, (label, _) in _INTERVALS.items()}
        chosen = self._state.get("sync_frequency") or "24hour"
        every = ui.select(words, value=chosen, label="Every")
        every.classes("w-40").props("outlined dense options-dense")
        switch = ui.switch("Materialized", value=self._state["enabled"])
        switch.on_value_change(lambda event: self._save(every.value if event.value else None))
        if self._state["enabled"]:
            every.on_value_change(lambda event: self._save(event.value))

    async def _save(self, every: str | None) -> None:
        """Materialize at this interval; None disables it and drops the table."""
        times = {"sync_frequency": every} if every else {}
        body = {"is_materialized": every is not None, **times}
        reply = await self._backend.send("PATCH", self._path, body)
        if notify(reply, "Saved."):
            self._state = reply.body["materialization"]
        self._show()


def _time(label: str, iso: str) -> None:
    with ui.row().classes("gap-1 text-sm muted"):
        ui.label(label)
        moment(iso)


def _next(state: MaterializationRecord) -> str:
    built = datetime.fromisoformat(state["last_materialized_at"] or "")
    _, interval = _INTERVALS[state["sync_frequency"]]
    return (built + interval).isoformat()
