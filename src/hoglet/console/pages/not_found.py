"""The not-found page, with a search for events and persons."""

from uuid import UUID

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.navigation import person_href
from hoglet.console.session import Sessions
from hoglet.console.widgets import Link, empty, heading


def register(sessions: Sessions) -> None:
    """Add the page for all other URLs below a project; must be added last."""

    @ui.page(
        "/project/{project_id}/{rest:path}",
        title="Not found · hoglet",
        response_timeout=BUILD_SECONDS,
    )
    async def nothing(request: Request, project_id: str, rest: str) -> Response | None:
        async def build(backend: Backend) -> None:
            not_found(backend, "This page does not exist", f"There is nothing at {rest}.")

        return await signed_in_page(sessions, request, project_id, section="-", build=build)


def not_found(backend: Backend, title: str, hint: str) -> None:
    """Render a not-found message with a search field."""
    heading("Not found")
    empty(title, hint, "search_off")
    search_field(backend)


def not_found_in(section: str, title: str, project_id: str) -> None:
    """Render a not-found message with a link to the list: ``functions`` or ``endpoints``."""
    heading("Not found")
    with empty(title, "It was deleted, or the address is wrong.", "search_off"):
        Link(f"All {section}", f"/project/{project_id}/{section}").classes("act")


def search_field(backend: Backend) -> None:
    """Render a field that opens an event by UUID, or a person by UUID or distinct id."""
    with ui.row().classes("w-full justify-center items-start"):
        field = ui.input("UUID of an event or person, or a distinct id")
        field.props("outlined dense clearable").classes("w-96")

        async def find() -> None:
            text = (field.value or "").strip()
            target = await page_of(backend, text) if text else None
            if target is None:
                field.props('error error-message="No event or person has this id."')
            else:
                ui.navigate.to(target)

        field.on("keydown.enter", find)
        ui.button("Search", icon="search", on_click=find).props("no-caps")


async def page_of(backend: Backend, text: str) -> str | None:
    """The URL of the event's or person's page; None if nothing has this id."""
    project = f"/project/{backend.project_id}"
    if _is_uuid(text):
        if (await backend.get(f"/events/{text}")).is_good:
            return f"{project}/events/{text}"
        if (await backend.get(f"/persons/{text}")).is_good:
            return f"{project}/persons/{text}"
    persons = await backend.get("/persons", distinct_id=text, limit=1)
    if persons.is_good and persons.body["results"]:
        return person_href(backend.project_id, text, persons.body["results"][0]["uuid"])
    return None


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
