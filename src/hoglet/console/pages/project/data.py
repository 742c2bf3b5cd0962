"""The data page: the project's known events and properties, and their types."""

from collections.abc import Callable
from typing import Any, NamedTuple

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.data_table import Row, column
from hoglet.console.components.form_dialog import FormDialog
from hoglet.console.components.live_table import LiveTable
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.records.project import PropertyRecord, RequestBody
from hoglet.console.session import Sessions
from hoglet.console.widgets import empty, heading, search_input, send_events_link, tabs

type Definition = dict[str, Any]
"""An event or property definition of the API."""

_MOST = 1000
_TYPES = ["String", "Numeric", "Boolean", "DateTime", "Duration"]
_VOLUME = (
    "SELECT event, count() AS events FROM events "
    "WHERE timestamp > now() - INTERVAL 30 DAY GROUP BY event ORDER BY event LIMIT 10000"
)
_SEEN = {
    "event": "SELECT arrayJoin(JSONExtractKeys(properties)) AS name, count(), min(timestamp), "
    "max(timestamp) FROM events WHERE timestamp > now() - INTERVAL 30 DAY "
    "GROUP BY name ORDER BY name LIMIT 10000",
    "person": "SELECT arrayJoin(JSONExtractKeys(properties)) AS name, count() "
    "FROM persons GROUP BY name ORDER BY name LIMIT 10000",
}
_SEEN_COLUMNS = {
    "event": [
        column("volume", "Events in 30 days", "number"),
        column("first", "First seen, 30 days", "time"),
        column("last", "Last seen", "time"),
    ],
    "person": [column("volume", "Persons", "number")],
}


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
    columns = [
        column("name", "Event"),
        column("volume", "Events in 30 days", "number"),
        column("first", "First seen", "time"),
        column("last", "Last seen", "time"),
        column("description", "Description"),
    ]
    kind = _Kind("/event_definitions", {}, "events", columns, _VOLUME, _event)
    await _Definitions(backend, kind).draw()


async def _properties(backend: Backend, kind: str) -> None:
    columns = [
        column("name", "Property"),
        column("type", "Type"),
        column("conflict", "Values of other types", "badge"),
        *_SEEN_COLUMNS[kind],
        column("description", "Description"),
    ]
    path, query = "/property_definitions", {"type": kind}
    listed = _Kind(path, query, "properties", columns, _SEEN[kind], _property)
    await _Definitions(backend, listed).draw()


class _Kind(NamedTuple):
    """What is listed.

    Args:
        path: the path of the API's list.
        query: its parameters.
        plural: ``events`` or ``properties``.
        columns: the columns of the table.
        counts: a query whose rows are name, volume, and perhaps the first and last time.
        row_of: makes a row of a definition and the rest of its row in ``counts``.
    """

    path: str
    query: dict[str, str]
    plural: str
    columns: list[dict[str, str]]
    counts: str
    row_of: Callable[[Any, list[Any]], Row]


class _Definitions:
    """A searchable list; a click on a row edits it. Counts are loaded after the rows.

    Args:
        backend: API client of the signed-in user.
        kind: what is listed.
    """

    def __init__(self, backend: Backend, kind: _Kind) -> None:
        self._backend = backend
        self._kind = kind
        self._definitions: dict[str, Definition] = {}
        self._counts: dict[str, list[Any]] = {}

    async def draw(self) -> None:
        """Render it."""
        self._search = search_input(f"Search {self._kind.plural}")
        self._search.on_value_change(self._load).style("max-width: 20rem")
        label = self._kind.plural.capitalize()
        self._table = LiveTable(label, self._kind.columns, self._nothing, on_row=self._edit)
        self._more = ui.label().classes("muted")
        await self._load()
        ui.timer(0.0, self._count, once=True)

    async def _count(self) -> None:
        reply = await self._backend.hogql(self._kind.counts)
        if reply.is_good:
            self._counts = {name: counted for name, *counted in reply.body["results"]}
            self._show()

    async def _load(self) -> None:
        search = self._search.value or None
        reply = await self._backend.get(
            self._kind.path, limit=_MOST, search=search, **self._kind.query
        )
        if not reply.is_good:
            self._table.fail(reply)
            return
        self._definitions = {each["id"]: each for each in reply.body["results"]}
        self._show()
        is_cut = bool(reply.body["next"])
        text = f"The first {_MOST:,} of {reply.body['count']:,}; search finds the others."
        self._more.set_text(text if is_cut else "")

    def _show(self) -> None:
        rows = [
            self._kind.row_of(each, self._counts.get(each["name"], []))
            for each in self._definitions.values()
        ]
        self._table.show(rows)

    def _nothing(self) -> None:
        if self._search.value:
            empty("Nothing found", f"No {self._kind.plural} match the search.", "search_off")
            return
        hint = f"Names of captured {self._kind.plural} appear here."
        with empty(f"No {self._kind.plural} yet", hint, "list"):
            send_events_link(self._backend.project_id)

    async def _edit(self, definition_id: str) -> None:
        if await _edit(self._backend, self._kind.path, self._definitions[definition_id]):
            await self._load()


def _event(definition: Definition, counts: list[Any]) -> Row:
    return {
        "id": definition["id"],
        "name": definition["name"],
        "volume": counts[0] if counts else None,
        "first": definition["created_at"],
        "last": definition["last_seen_at"],
        "description": definition["description"],
    }


def _property(definition: PropertyRecord, counts: list[Any]) -> Row:
    share = definition.get("unconverted_share") or 0.0
    return {
        "id": definition["id"],
        "name": definition["name"],
        "type": definition["property_type"] or "–",
        "conflict": f"{share:.1%}" if share else "",
        "conflict_tone": "warn" if share else "",
        "description": definition["description"],
        **dict(zip(("volume", "first", "last"), counts, strict=False)),
    }


async def _edit(backend: Backend, path: str, definition: Definition) -> bool:
    """Edit the description, and the type of a property; returns whether anything changed."""
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
    return await dialog.answered(send, fields) is not None
