"""The list of endpoints, and the dialog that creates one from an example query."""

from collections.abc import Awaitable, Callable

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import DataTable, Row, column
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.pages.endpoints.endpoint_head import KINDS
from hoglet.console.pages.endpoints.endpoint_table import table_state
from hoglet.console.pages.endpoints.versions import query_text
from hoglet.console.records import EndpointRecord, StoredQuery
from hoglet.console.session import Sessions
from hoglet.console.source_excerpt import code_block
from hoglet.console.widgets import (
    empty,
    failed,
    heading,
    search_input,
    set_url_values,
    until_closed,
    url_value,
)


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
    backend: Backend, records: list[EndpointRecord], search: str, new: Callable[[], Awaitable[None]]
) -> None:
    found = [record for record in records if _matches(record, search.casefold())]
    if found:
        _table(backend, found)
    elif records:
        empty("Nothing found", f"No name, description or tag contains {search!r}.", "search_off")
    else:
        hint = "Start from an example query and run it: the page then shows how to call it."
        with empty("No endpoints yet", hint, "api"):
            ui.button("Create the first endpoint", on_click=new)


def _matches(record: EndpointRecord, search: str) -> bool:
    texts = (record["name"], record["description"], *record["tags"])
    return any(search in text.casefold() for text in texts)


def _table(backend: Backend, records: list[EndpointRecord]) -> None:
    columns = [
        column("name", "Name", "link"),
        column("kind", "Query"),
        column("active", "State", "badge"),
        column("table", "Materialization", "badge"),
        column("version", "Version", "number"),
        column("executed", "Last API call", "time"),
        column("tags", "Tags"),
    ]
    DataTable("Endpoints", columns, [_row(backend, record) for record in records], key="name")


def _row(backend: Backend, record: EndpointRecord) -> Row:
    state, tone = table_state(record["materialization"])
    return {
        "name": record["name"],
        "href": f"/project/{backend.project_id}/endpoints/{record['name']}",
        "kind": KINDS[record["query"]["kind"]],
        "version": record["current_version"],
        "active": "active" if record["is_active"] else "inactive",
        "active_tone": "ok" if record["is_active"] else "",
        "table": state,
        "table_tone": tone,
        "executed": record["last_executed_at"],
        "tags": ", ".join(record["tags"]),
    }


_DATES = {"dateRange": {"date_from": "-30d"}}
_PAGEVIEW = {"kind": "EventsNode", "event": "$pageview", "name": "$pageview"}
_ANY_EVENT = {"kind": "EventsNode", "event": None, "name": "All events"}
_RETURNING = {"id": "$pageview", "type": "events"}

FIRST_QUERIES: dict[str, StoredQuery] = {
    "Events by name (SQL)": {
        "kind": "HogQLQuery",
        "query": "SELECT event, count() AS events\nFROM events\nGROUP BY event\n"
        "ORDER BY events DESC",
    },
    "Events and persons per day (SQL)": {
        "kind": "HogQLQuery",
        "query": "SELECT toDate(timestamp) AS day, count() AS events, "
        "count(DISTINCT person_id) AS people\nFROM events\n"
        "WHERE timestamp > now() - INTERVAL 30 DAY\nGROUP BY day\nORDER BY day",
    },
    "Trend of all events": {"kind": "TrendsQuery", "series": [_ANY_EVENT], **_DATES},
    "Two-step funnel": {"kind": "FunnelsQuery", "series": [_PAGEVIEW, _ANY_EVENT], **_DATES},
    "Daily retention": {
        "kind": "RetentionQuery",
        "retentionFilter": {
            "period": "Day",
            "totalIntervals": 8,
            "targetEntity": _RETURNING,
            "returningEntity": _RETURNING,
        },
    },
    "Page paths": {
        "kind": "PathsQuery",
        "pathsFilter": {"includeEventTypes": ["$pageview"]},
        **_DATES,
    },
}


async def ask_for_new_endpoint(backend: Backend) -> None:
    """Show the dialog, create the endpoint, and open its page."""

    async def create() -> None:
        body = {"name": name.value or "", "description": description.value or ""}
        query = FIRST_QUERIES[str(chosen.value)]
        reply = await backend.send("POST", "/endpoints", {**body, "query": query})
        problem.clear()
        if reply.is_good:
            ui.navigate.to(f"/project/{backend.project_id}/endpoints/{reply.body['name']}")
            return
        with problem:
            failed(reply)

    def show() -> None:
        preview.set_text(query_text(FIRST_QUERIES[str(chosen.value)]))

    with ui.dialog(value=True) as dialog, ui.card().classes("w-full max-w-xl"):
        ui.label("New endpoint").classes("text-lg font-medium")
        name = ui.input("Name", placeholder="daily_events").classes("w-full")
        name.props('autofocus hint="letters, digits, _ and -; it is part of the URL"')
        name.on("keydown.enter", create)
        description = ui.input("Description").classes("w-full")
        first = next(iter(FIRST_QUERIES))
        chosen = ui.select(list(FIRST_QUERIES), value=first, label="Start from", on_change=show)
        chosen.classes("w-full")
        preview = code_block(query_text(FIRST_QUERIES[first]))
        problem = ui.column().classes("w-full")
        with ui.row():
            ui.button("Create", on_click=create).props("no-caps")
            ui.button("Cancel", on_click=dialog.close).props("flat no-caps")
    await until_closed(dialog)
