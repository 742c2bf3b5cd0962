"""The list of functions, with their activity in the last 24 hours."""

from datetime import UTC, datetime

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import Row, column
from hoglet.console.components.live_table import LiveTable
from hoglet.console.components.polling import poll_while_visible
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.pages.functions.new_function import BLANKS
from hoglet.console.pages.functions.recent_runs import RecentRuns, recent_runs
from hoglet.console.records.functions import FunctionRecord
from hoglet.console.records.project import RequestBody
from hoglet.console.session import Sessions
from hoglet.console.widgets import (
    Link,
    confirm,
    empty,
    heading,
    notify,
    search_input,
    set_url_values,
    url_value,
)

_STATES = {
    0: ("not enabled", ""),
    1: ("healthy", "ok"),
    2: ("degraded", "warn"),
    3: ("disabled", "danger"),
    11: ("degraded by an administrator", "warn"),
    12: ("disabled by an administrator", "danger"),
}
_STATE_LABELS = {
    "": "All states",
    "on": "Healthy",
    "off": "Not enabled",
    "ill": "Degraded or disabled",
}
_TONES = {"on": {"ok"}, "off": {""}, "ill": {"warn", "danger"}}
_PAGE = 1000
_AGAIN_SECONDS = 10.0
_TYPES = {"": "All types"} | {blank.type: blank.plural for blank in BLANKS}


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page(
        "/project/{project_id}/functions",
        title="Functions · hoglet",
        response_timeout=BUILD_SECONDS,
    )
    async def functions(request: Request, project_id: str) -> Response | None:
        async def build(backend: Backend) -> None:
            await _FunctionList(backend).draw()

        return await signed_in_page(sessions, request, project_id, section="functions", build=build)


def status_of(function: FunctionRecord) -> tuple[str, str]:
    """The watcher's state as a label and a tone."""
    state = function["status"]["state"]
    return _STATES.get(state, (f"state {state}", ""))


class _FunctionList:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._recent = RecentRuns()
        self._requests = 0

    async def draw(self) -> None:
        new = f"/project/{self._backend.project_id}/functions/new"
        with ui.element("div").classes("toolbar"):
            heading("Functions", "Code that runs on events: send, transform, receive")
            ui.space()
            self._search = search_input("Search functions", url_value("search"))
            chosen = url_value("type")
            self._type = ui.select(_TYPES, value=chosen if chosen in _TYPES else "")
            self._type.props('dense outlined options-dense aria-label="Type"')
            state = url_value("state")
            self._state = ui.select(_STATE_LABELS, value=state if state in _STATE_LABELS else "")
            self._state.props('dense outlined options-dense aria-label="State"')
            ui.button("New function", icon="add", on_click=lambda: ui.navigate.to(new))
        self._search.on_value_change(self._refresh)
        self._type.on_value_change(self._refresh)
        self._state.on_value_change(self._refresh)
        self._bulk = ui.row().classes("items-center gap-2")
        self._bulk.set_visibility(False)
        with self._bulk:
            ui.button("Enable", on_click=lambda: self._change_all({"enabled": True})).props(
                "outline"
            )
            ui.button("Disable", on_click=lambda: self._change_all({"enabled": False})).props(
                "outline"
            )
            ui.button("Delete", color="negative", on_click=self._delete_all).props("outline")
        self._recent = await recent_runs(self._backend, datetime.now(UTC))
        self._rows = self._table()
        await self._show()
        poll_while_visible(_AGAIN_SECONDS, self._follow)

    async def _follow(self) -> None:
        self._recent = await recent_runs(self._backend, datetime.now(UTC))
        await self._show()

    async def _refresh(self) -> None:
        set_url_values(search=self._search.value, type=self._type.value, state=self._state.value)
        await self._show()

    async def _show(self) -> None:
        self._requests += 1
        request, search = self._requests, self._search.value or None
        reply = await self._backend.get(
            "/hog_functions", limit=_PAGE, search=search, type=self._type.value or None
        )
        if request != self._requests:
            return  # the filters were changed in the meantime
        if not reply.is_good:
            self._rows.fail(reply)
            return
        tones = _TONES.get(self._state.value)
        functions = [
            each for each in reply.body["results"] if tones is None or status_of(each)[1] in tones
        ]
        self._rows.show([self._row(function) for function in functions])
        self._bulk.set_visibility(bool(self._rows.selected))

    def _nothing(self) -> None:
        if self._search.value or self._type.value or self._state.value:
            empty("Nothing found", "No function matches the search.", "search_off")
            return
        with empty(
            "No functions yet", "A function runs when an event matches its filters.", "bolt"
        ):
            new = f"/project/{self._backend.project_id}/functions/new"
            Link("Choose a template", new).classes("act")

    def _table(self) -> LiveTable:
        columns = [
            column("name", "Name", "link"),
            column("enabled", "Enabled", "toggle"),
            column("status", "State", "badge"),
            column("runs", "Runs in 24 h", "spark"),
            column("succeeded", "Succeeded", "number"),
            column("failed", "Failed", "number"),
            column("last_run", "Last run", "time"),
            column("last_error", "Last error, 7 days", "clipped"),
        ]
        return LiveTable(
            "Functions",
            columns,
            self._nothing,
            selectable=True,
            on_action=self._toggle,
            on_select=self._select,
        )

    def _select(self, keys: list[str]) -> None:
        self._bulk.set_visibility(bool(keys))

    def _row(self, function: FunctionRecord) -> Row:
        state, tone = status_of(function)
        hours = self._recent.hours.get(function["id"])
        good, bad = (sum(pair[side] for pair in hours or []) for side in (0, 1))
        return {
            "id": function["id"],
            "href": f"/project/{self._backend.project_id}/functions/{function['id']}",
            "name": function["name"] or "Untitled",
            "name_note": function["type"].replace("_", " "),
            "enabled": function["enabled"],
            "status": state,
            "status_tone": tone,
            "runs": hours,
            "runs_note": f"{good} succeeded, {bad} failed",
            "succeeded": good,
            "failed": bad,
            "last_run": self._recent.last_run.get(function["id"]),
            "last_error": self._recent.last_error.get(function["id"], ""),
        }

    async def _toggle(self, function_id: str, _column: str, value: bool) -> None:  # noqa: FBT001
        path = f"/hog_functions/{function_id}"
        reply = await self._backend.send("PATCH", path, {"enabled": value})
        notify(reply, "Enabled." if value else "Disabled.")
        await self._show()

    async def _change_all(self, change: RequestBody) -> None:
        with self._backend.waiting():
            for function_id in self._rows.selected:
                reply = await self._backend.send("PATCH", f"/hog_functions/{function_id}", change)
                if not reply.is_good:
                    notify(reply, "")
            await self._show()

    async def _delete_all(self) -> None:
        count = len(self._rows.selected)
        text = f"{count} functions stop running. Their history is kept."
        if await confirm("Delete functions?", text, f"Delete {count}"):
            await self._change_all({"deleted": True})
