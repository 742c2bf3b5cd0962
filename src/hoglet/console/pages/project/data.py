"""The data page: the events and properties that were seen, and their types."""

from collections.abc import Awaitable, Callable

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.data_table import DataTable, Row, column
from hoglet.console.components.form_dialog import FormDialog
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.records import PropertyRecord, RequestBody
from hoglet.console.session import Sessions
from hoglet.console.widgets import empty, failed, heading, send_events_link, tabs

_MOST = 1000
_TYPES = ["String", "Numeric", "Boolean", "DateTime", "Duration"]
_VOLUME = (
    "SELECT event, count() AS events, min(timestamp) AS first FROM events "
    "WHERE timestamp > now() - INTERVAL 30 DAY GROUP BY event ORDER BY event LIMIT 10000"
)


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page("/project/{project_id}/data", title="Data · hoglet", response_timeout=BUILD_SECONDS)
    async def data(request: Request, project_id: str) -> Response | None:
        async def build(backend: Backend) -> None:
            heading("Data", "Events and properties seen so far")
            await tabs(
                {
                    "Events": lambda: _events(backend),
                    "Event properties": lambda: _properties(backend, "event"),
                    "Person properties": lambda: _properties(backend, "person"),
                }
            )

        return await signed_in_page(sessions, request, project_id, section="data", build=build)


async def _events(backend: Backend) -> None:
    @ui.refreshable
    async def listing() -> None:
        reply = await backend.get("/event_definitions", limit=_MOST)
        volume = await backend.hogql(_VOLUME)
        if not reply.is_good:
            failed(reply)
            return
        counts = {row[0]: row[1] for row in volume.body["results"]} if volume.is_good else {}
        found = {each["id"]: each for each in reply.body["results"]}
        rows = [
            {
                "id": each["id"],
                "name": each["name"],
                "volume": int(counts.get(each["name"], 0)),
                "first": each["created_at"],
                "last": each["last_seen_at"],
                "description": each["description"],
            }
            for each in found.values()
        ]
        columns = [
            column("name", "Event"),
            column("volume", "Events in 30 days", "number"),
            column("first", "First seen", "time"),
            column("last", "Last seen", "time"),
            column("description", "Description"),
        ]
        if not rows:
            with empty("No events yet", "Names of captured events appear here.", "events"):
                send_events_link(backend.project_id)
            return

        async def edit(definition_id: str) -> None:
            await _edit(backend, "/event_definitions", found[definition_id], listing.refresh)

        DataTable("Events seen", columns, rows, on_row=edit)

    await listing()


async def _properties(backend: Backend, kind: str) -> None:
    @ui.refreshable
    async def listing() -> None:
        reply = await backend.get("/property_definitions", limit=_MOST, type=kind)
        if not reply.is_good:
            failed(reply)
            return
        found = {each["id"]: each for each in reply.body["results"]}
        rows = [_property(each) for each in found.values()]
        columns = [
            column("name", "Property"),
            column("type", "Type"),
            column("conflict", "Values of other types", "badge"),
            column("description", "Description"),
        ]
        if not rows:
            with empty("No properties yet", f"Properties of {kind}s appear here.", "list"):
                send_events_link(backend.project_id)
            return

        async def edit(definition_id: str) -> None:
            await _edit(backend, "/property_definitions", found[definition_id], listing.refresh)

        DataTable(f"Properties of {kind}s", columns, rows, on_row=edit)

    await listing()


def _property(definition: PropertyRecord) -> Row:
    share = definition.get("unconverted_share") or 0.0
    return {
        "id": definition["id"],
        "name": definition["name"],
        "type": definition["property_type"] or "–",
        "conflict": f"{share:.1%}" if share else "",
        "conflict_tone": "warn" if share else "",
        "description": definition["description"],
    }


async def _edit(
    backend: Backend,
    path: str,
    definition: PropertyRecord,
    done: Callable[[], Awaitable[None] | None],
) -> None:
    """Change the description, and the type of a property."""
    is_property = "property_type" in definition

    dialog = FormDialog(definition["name"], "Save")
    with dialog.fields():
        description = ui.input("Description", value=definition["description"] or "")
        description.props("outlined dense autofocus").classes("w-full")
        kind = None
        if is_property:
            stored = definition["property_type"]
            options = _TYPES if stored in {None, *_TYPES} else [*_TYPES, stored]
            kind = ui.select(options, value=stored, label="Type")
            kind.props("outlined dense").classes("w-full")

    async def send() -> Reply:
        body: RequestBody = {"description": description.value or ""}
        if kind is not None:
            body["property_type"] = kind.value
        return await backend.send("PATCH", f"{path}/{definition['id']}", body)

    fields = {"description": description} | ({} if kind is None else {"property_type": kind})
    if await dialog.answered(send, fields) is not None:
        done()
