"""The list of endpoints."""

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
from hoglet.console.pages.endpoint_head import KINDS
from hoglet.console.pages.endpoint_table import table_state
from hoglet.console.pages.new_endpoint import ask_for_new_endpoint
from hoglet.console.session import Sessions

type Json = dict[str, Any]


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page("/project/{project_id}/endpoints", title="Endpoints · hoglet")
    async def endpoints(request: Request, project_id: str) -> Response | None:
        return await signed_in_page(
            sessions, request, project_id, section="endpoints", build=_build
        )


async def _build(backend: Backend) -> None:
    async def new() -> None:
        await ask_for_new_endpoint(backend)

    with ui.row().classes("w-full items-center"):
        heading("Endpoints", "Saved queries that programs call by name")
        ui.space()
        search = ui.input(placeholder="Search").props("dense outlined clearable debounce=200")
        search.props('aria-label="Search names, descriptions and tags"')
        ui.button("New endpoint", icon="add", on_click=new).props("no-caps")
    reply = await backend.get("/endpoints")
    if not reply.is_good:
        failed(reply)
        return

    @ui.refreshable
    def listing() -> None:
        _listing(backend, reply.body["results"], (search.value or "").strip())

    search.on_value_change(listing.refresh)
    listing()


def _listing(backend: Backend, records: list[Json], search: str) -> None:
    found = [record for record in records if _matches(record, search.casefold())]
    if found:
        _table(backend, found)
    elif records:
        empty("Nothing found", f"No name, description or tag contains {search!r}.", "search_off")
    else:
        hint = (
            "Press New endpoint, choose an example query and run it: the page then "
            "shows the call for your program."
        )
        empty("No endpoints yet", hint, "api")


def _matches(record: Json, search: str) -> bool:
    texts = (record["name"], record["description"], *record["tags"])
    return any(search in text.casefold() for text in texts)


def _table(backend: Backend, records: list[Json]) -> None:
    table = ui.table(
        rows=[_row(backend, record) for record in records],
        row_key="name",
        pagination=25,
        columns=columns(
            ("name", "Name"),
            ("kind", "Query"),
            ("active", "Active"),
            ("table", "Table"),
            ("version", "Version"),
            ("executed", "Last run with a key (UTC)"),
            ("tags", "Tags"),
        ),
    ).classes("w-full")
    link_cell(table, "name")
    badge_cell(table, "active")
    badge_cell(table, "table")


def _row(backend: Backend, record: Json) -> Json:
    state, color = table_state(record["materialization"])
    return {
        "name": record["name"],
        "href": f"/project/{backend.project_id}/endpoints/{record['name']}",
        "kind": KINDS[record["query"]["kind"]],
        "version": record["current_version"],
        "active": "on" if record["is_active"] else "off",
        "active_color": "positive" if record["is_active"] else "grey",
        "table": state,
        "table_color": color,
        "executed": short_time(record["last_executed_at"]) or "never",
        "tags": ", ".join(record["tags"]),
    }
