"""The list of persons, with search."""

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.data_table import Row, column
from hoglet.console.components.paged_table import PagedTable
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.records.project import PersonDetails
from hoglet.console.session import Sessions
from hoglet.console.widgets import (
    empty,
    failed,
    heading,
    search_input,
    send_events_link,
    set_url_values,
    url_value,
)

_PAGE = 100


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page(
        "/project/{project_id}/persons", title="Persons · hoglet", response_timeout=BUILD_SECONDS
    )
    async def persons(request: Request, project_id: str) -> Response | None:
        return await signed_in_page(sessions, request, project_id, section="persons", build=_build)


async def _build(backend: Backend) -> None:
    with ui.element("div").classes("toolbar"):
        heading("Persons", "People your events are about, newest first")
        ui.space()
        search = search_input("Search persons by email, name or distinct id", url_value("search"))

    @ui.refreshable
    async def listing() -> None:
        reply = await backend.get("/persons", limit=_PAGE, search=search.value or None)
        if not reply.is_good:
            failed(reply)
        elif reply.body["results"]:
            _table(backend, reply)
        elif search.value:
            empty("No persons found", "No person matches the search.", "search_off")
        else:
            with empty("No persons yet", "Events of identified users create persons.", "people"):
                send_events_link(backend.project_id)

    def find() -> None:
        set_url_values(search=search.value)
        listing.refresh()

    search.on_value_change(find)
    await listing()


def _table(backend: Backend, first: Reply) -> None:
    def row(person: PersonDetails) -> Row:
        return {
            "id": person["uuid"],
            "name": person["name"],
            "href": f"/project/{backend.project_id}/persons/{person['uuid']}",
            "ids": ", ".join(person["distinct_ids"][:3]),
            "properties": len(person["properties"]),
            "created": person["created_at"],
            "seen": person["last_seen_at"],
        }

    columns = [
        column("name", "Name", "link"),
        column("ids", "Distinct ids"),
        column("properties", "Properties", "number"),
        column("created", "First seen", "time"),
        column("seen", "Last seen", "time"),
    ]
    PagedTable(backend, "/persons", first, label="Persons", columns=columns, row_of=row)
