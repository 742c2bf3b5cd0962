"""The list of endpoints, and the dialog that creates one from an example query."""

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.data_table import Row, column
from hoglet.console.components.form_dialog import FormDialog
from hoglet.console.components.live_table import LiveTable
from hoglet.console.components.polling import poll_while_visible
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.pages.endpoints.endpoint_head import KINDS
from hoglet.console.pages.endpoints.endpoint_table import table_state
from hoglet.console.pages.endpoints.versions import query_text
from hoglet.console.records.endpoints import EndpointRecord
from hoglet.console.records.project import StoredQuery
from hoglet.console.session import Sessions
from hoglet.console.source_excerpt import code_block
from hoglet.console.widgets import empty, heading, search_input, set_url_values, url_value

_AGAIN_SECONDS = 10.0
_COLUMNS = [
    column("name", "Name", "link"),
    column("kind", "Query"),
    column("active", "State", "badge"),
    column("table", "Materialization", "badge"),
    column("version", "Version", "number"),
    column("executed", "Last API call", "time"),
    column("tags", "Tags"),
]


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
    await _EndpointList(backend).draw()


class _EndpointList:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._records: list[EndpointRecord] = []

    async def draw(self) -> None:
        with ui.element("div").classes("toolbar"):
            heading("Endpoints", "Saved queries that programs call by name")
            ui.space()
            label = "Search names, descriptions and tags"
            self._search = search_input(label, url_value("search"))
            ui.button("New endpoint", icon="add", on_click=self._new)
        self._rows = LiveTable("Endpoints", _COLUMNS, self._nothing, key="name")
        self._search.on_value_change(self._find)
        await self._load()
        poll_while_visible(_AGAIN_SECONDS, self._load)

    async def _new(self) -> None:
        await ask_for_new_endpoint(self._backend)

    async def _load(self) -> None:
        reply = await self._backend.get("/endpoints")
        if not reply.is_good:
            self._rows.fail(reply)
            return
        self._records = reply.body["results"]
        self._show()

    def _find(self) -> None:
        set_url_values(search=self._search.value)
        self._show()

    def _show(self) -> None:
        search = (self._search.value or "").strip().casefold()
        matching = [record for record in self._records if _matches(record, search)]
        self._rows.show([_row(self._backend, record) for record in matching])

    def _nothing(self) -> None:
        if self._records:
            search = (self._search.value or "").strip()
            text = f"No name, description or tag contains {search!r}."
            empty("Nothing found", text, "search_off")
            return
        hint = "Start from an example query and run it: the page then shows how to call it."
        with empty("No endpoints yet", hint, "api"):
            ui.button("Create the first endpoint", on_click=self._new)


def _matches(record: EndpointRecord, search: str) -> bool:
    texts = (record["name"], record["description"], *record["tags"])
    return any(search in text.casefold() for text in texts)


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
    dialog = FormDialog("New endpoint", "Create")
    with dialog.fields():
        name = ui.input("Name", placeholder="daily_events").classes("w-full")
        name.props('outlined dense autofocus hint="letters, digits, _ and -; part of the URL"')
        description = ui.input("Description").classes("w-full").props("outlined dense")
        first = next(iter(FIRST_QUERIES))
        chosen = ui.select(list(FIRST_QUERIES), value=first, label="Start from")
        chosen.classes("w-full").props("outlined dense options-dense")
        preview = code_block(query_text(FIRST_QUERIES[first]))
    chosen.on_value_change(lambda: preview.set_text(query_text(FIRST_QUERIES[str(chosen.value)])))

    async def send() -> Reply:
        body = {"name": name.value or "", "description": description.value or ""}
        query = FIRST_QUERIES[str(chosen.value)]
        return await backend.send("POST", "/endpoints", {**body, "query": query})

    reply = await dialog.answered(send, {"name": name, "description": description})
    if reply is not None:
        ui.navigate.to(f"/project/{backend.project_id}/endpoints/{reply.body['name']}")
