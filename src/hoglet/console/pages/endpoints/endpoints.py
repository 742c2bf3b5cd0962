"""The list of endpoints."""

from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import DataTable, column
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.pages.endpoints.endpoint_head import KINDS
from hoglet.console.pages.endpoints.endpoint_table import table_state
from hoglet.console.pages.endpoints.new_endpoint import ask_for_new_endpoint
from hoglet.console.session import Sessions
from hoglet.console.widgets import empty, failed, heading, search_input, set_url_values, url_value

type Json = dict[str, Any]


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page(
        "/project/{project_id}/endpoints",
        title="Endpoints · hoglet",
        response_timeout=BUILD_SECONDS,
    )
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
        search = search_input("Search names, descriptions and tags", url_value("search"))
        ui.button("New endpoint", icon="add", on_click=new)
    reply = await backend.get("/endpoints")
    if not reply.is_good:
        failed(reply)
        return

    @ui.refreshable
    def listing() -> None:
        _listing(backend, reply.body["results"], (search.value or "").strip(), new)

    def find() -> None:
        set_url_values(search=search.value)
        listing.refresh()

    search.on_value_change(find)
    listing()


def _listing(
    backend: Backend, records: list[Json], search: str, new: Callable[[], Awaitable[None]]
) -> None:
    found = [record for record in records if _matches(record, search.casefold())]
    if found:
        _table(backend, found)
    elif records:
        empty("Nothing found", f"No name, description or tag contains {search!r}.", "search_off")
    else:
        hint = "Choose an example query and run it: the page then shows the call for your program."
        with empty("No endpoints yet", hint, "api"):
            ui.button("Create the first endpoint", on_click=new)


def _matches(record: Json, search: str) -> bool:
    texts = (record["name"], record["description"], *record["tags"])
    return any(search in text.casefold() for text in texts)


def _table(backend: Backend, records: list[Json]) -> None:
    columns = [
        column("name", "Name", "link"),
        column("kind", "Query"),
        column("active", "Active", "badge"),
        column("table", "Materialization", "badge"),
        column("version", "Version", "number"),
        column("executed", "Last run with a key", "time"),
        column("tags", "Tags"),
    ]
    DataTable("Endpoints", columns, [_row(backend, record) for record in records], key="name")


def _row(backend: Backend, record: Json) -> Json:
    state, tone = table_state(record["materialization"])
    return {
        "name": record["name"],
        "href": f"/project/{backend.project_id}/endpoints/{record['name']}",
        "kind": KINDS[record["query"]["kind"]],
        "version": record["current_version"],
        "active": "on" if record["is_active"] else "off",
        "active_tone": "ok" if record["is_active"] else "",
        "table": state,
        "table_tone": tone,
        "executed": record["last_executed_at"],
        "tags": ", ".join(record["tags"]),
    }
