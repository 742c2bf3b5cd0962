"""The list of functions."""

from typing import Any

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.layout import (
    badge_cell,
    columns,
    empty,
    failed,
    heading,
    link_cell,
    short_time,
    signed_in_page,
)
from hoglet.console.pages.new_function import ask_for_new_function
from hoglet.console.session import Sessions

_STATES = {
    0: ("off", "grey"),
    1: ("healthy", "positive"),
    2: ("degraded", "warning"),
    3: ("disabled", "negative"),
    11: ("degraded by an administrator", "warning"),
    12: ("disabled by an administrator", "negative"),
}
_PAGE = 1000


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page("/project/{project_id}/functions", title="Functions · hoglet")
    async def functions(request: Request, project_id: str) -> Response | None:
        return await signed_in_page(
            sessions, request, project_id, section="functions", build=_build
        )


def status_of(function: dict[str, Any]) -> tuple[str, str]:
    """The watcher's state as a label and a color."""
    state = function["status"]["state"]
    return _STATES.get(state, (f"state {state}", "grey"))


async def _build(backend: Backend) -> None:
    with ui.row().classes("w-full items-center"):
        heading("Functions", "Destinations, transformations, webhooks and site apps")
        ui.space()
        search = ui.input(placeholder="Search").props("dense outlined clearable debounce=300")
        search.props('aria-label="Search functions"')
        ui.button("New function", icon="add", on_click=lambda: ask_for_new_function(backend)).props(
            "no-caps"
        )

    @ui.refreshable
    async def listing() -> None:
        await _table(backend, search.value or "")

    search.on_value_change(listing.refresh)
    await listing()


async def _table(backend: Backend, search: str) -> None:
    reply = await backend.get("/hog_functions", limit=_PAGE, search=search or None)
    if not reply.is_good:
        failed(reply)
        return
    rows = [_row(backend, function) for function in reply.body["results"]]
    if not rows and search:
        empty("Nothing found", f"No function matches {search!r}.", "search_off")
    elif not rows:
        empty("No functions yet", "A function runs when an event matches its filters.", "bolt")
    else:
        table = ui.table(
            rows=rows,
            row_key="id",
            pagination=25,
            columns=columns(
                ("name", "Name"),
                ("type", "Type"),
                ("enabled", "Enabled"),
                ("status", "State"),
                ("updated", "Updated (UTC)"),
            ),
        ).classes("w-full")
        link_cell(table, "name")
        badge_cell(table, "enabled")
        badge_cell(table, "status")


def _row(backend: Backend, function: dict[str, Any]) -> dict[str, Any]:
    state, color = status_of(function)
    return {
        "id": function["id"],
        "href": f"/project/{backend.project_id}/functions/{function['id']}",
        "name": function["name"] or "Untitled",
        "type": function["type"].replace("_", " "),
        "enabled": "on" if function["enabled"] else "off",
        "enabled_color": "positive" if function["enabled"] else "grey",
        "status": state,
        "status_color": color,
        "updated": short_time(function["updated_at"]),
    }
