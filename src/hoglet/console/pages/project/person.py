"""The page of a person: properties, distinct ids, cohorts and the newest events.

Source: docs/spec/data-and-queries.md#43-links.
"""

import asyncio
from urllib.parse import quote

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.data_table import DataTable, Row, column
from hoglet.console.components.form_dialog import FormDialog
from hoglet.console.components.paged_table import PagedTable
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.pages.not_found import not_found
from hoglet.console.pages.project.person_properties import PersonProperties
from hoglet.console.records.project import EventRecord, PersonDetails
from hoglet.console.session import Sessions
from hoglet.console.widgets import empty, exact_time, failed, heading, section
from hoglet.kit.json import Properties
from hoglet.web.pagination import ORIGINAL_PATH

_EVENTS = 100
_LOOKS = 20
_LOOK_SECONDS = 0.25
_EVER = "1970-01-01T00:00:00Z"


def register(sessions: Sessions) -> None:
    """Add the pages; distinct ids may contain any characters, including slashes."""

    @ui.page(
        "/project/{project_id}/person/{distinct_id:path}",
        title="Person · hoglet",
        response_timeout=BUILD_SECONDS,
    )
    async def person(request: Request, project_id: str, distinct_id: str) -> Response | None:
        whole: str = request.scope.get(ORIGINAL_PATH, request.scope["path"])
        distinct_id = whole.split("/", 4)[4]  # routing drops a trailing slash

        async def build(backend: Backend) -> None:
            reply = await backend.get("/persons", distinct_id=distinct_id, limit=1)
            persons = reply.body["results"] if reply.is_good else []
            if persons:  # lists contain only some distinct ids
                reply = await backend.get(f"/persons/{persons[0]['uuid']}")
            elif reply.is_good:
                reply = Reply(404, None)
            await _build(backend, reply, f"the distinct id {distinct_id}")

        return await signed_in_page(sessions, request, project_id, section="persons", build=build)

    @ui.page(
        "/project/{project_id}/persons/{uuid}",
        title="Person · hoglet",
        response_timeout=BUILD_SECONDS,
    )
    async def person_by_uuid(request: Request, project_id: str, uuid: str) -> Response | None:
        async def build(backend: Backend) -> None:
            reply = await backend.get(f"/persons/{quote(uuid, safe='')}")
            await _build(backend, reply, f"the id {uuid}")

        return await signed_in_page(sessions, request, project_id, section="persons", build=build)


async def _build(backend: Backend, reply: Reply, what: str) -> None:
    if reply.status in {400, 404}:
        hint = "No event was sent with it, or the person was deleted."
        not_found(backend, f"There is no person with {what}", hint)
        return
    if not reply.is_good:
        heading("Person")
        failed(reply)
        return
    await _Person(backend, reply.body).draw()


class _Person:
    def __init__(self, backend: Backend, person: PersonDetails) -> None:
        self._backend = backend
        self._person = person
        self._path = f"/persons/{person['uuid']}"

    async def draw(self) -> None:
        person = self._person
        with ui.element("div").classes("toolbar"):
            seen = exact_time(person["created_at"], self._backend.zone)
            heading(person["name"], f"first seen {seen} · {person['uuid']}")
            ui.space()
            ui.button("Delete person", icon="delete", on_click=self._delete).props("outline")
        with section("Properties"):
            PersonProperties(self._backend, person, self._reload).draw()
        with section("Distinct ids"):
            _distinct_ids(person)
        with section("Cohorts"):
            await _cohorts(self._backend, person)
        with section("Events"):
            await _events(self._backend, person)

    async def _reload(self, expected: Properties) -> PersonDetails:
        """Read the person until its properties are as expected, or for a limited time."""
        for _ in range(_LOOKS):
            reply = await self._backend.get(self._path)
            if reply.is_good:
                self._person = reply.body
            if self._person["properties"] == expected:
                break
            await asyncio.sleep(_LOOK_SECONDS)
        return self._person

    async def _delete(self) -> None:
        name = self._person["name"]
        dialog = FormDialog(f"Delete {name}?", "Delete")
        with dialog.fields():
            ui.label("Properties and distinct ids are deleted. This cannot be undone.")
            with_events = ui.switch("Also delete the events of this person")

        async def send() -> Reply:
            query = "delete_events=true" if with_events.value else ""
            path = f"/api/projects/{self._backend.project_id}{self._path}"
            return await self._backend.call("DELETE", path, query=query)

        if await dialog.answered(send) is not None:
            ui.notify("Deleted.", type="positive")
            ui.navigate.to(f"/project/{self._backend.project_id}/persons")


async def _cohorts(backend: Backend, person: PersonDetails) -> None:
    reply = await backend.get("/persons/cohorts", person_id=person["uuid"])
    if not reply.is_good:
        failed(reply)
        return
    rows = [
        {
            "id": cohort["id"],
            "name": cohort["name"],
            "href": f"/project/{backend.project_id}/cohorts?open={cohort['id']}",
            "count": cohort["count"],
        }
        for cohort in reply.body["results"]
    ]
    if not rows:
        empty("In no cohort", "Cohorts that contain this person are listed here.", "people")
        return
    columns = [column("name", "Cohort", "link"), column("count", "Persons", "number")]
    DataTable("Cohorts of this person", columns, rows)


def _distinct_ids(person: PersonDetails) -> None:
    rows = [{"id": distinct_id} for distinct_id in person["distinct_ids"]]
    DataTable("Distinct ids", [column("id", "Distinct id")], rows).mark("distinct-ids")


async def _events(backend: Backend, person: PersonDetails) -> None:
    reply = await backend.get(
        "/events", person_id=person["uuid"], limit=_EVENTS, after=_EVER, include_person="false"
    )
    if not reply.is_good:
        failed(reply)
    elif not reply.body["results"]:
        empty("No events", "Events of this person are listed here.", "bolt")
    else:
        _event_table(backend, reply)


def _event_table(backend: Backend, first: Reply) -> None:
    def row(event: EventRecord) -> Row:
        return {
            "id": event["id"],
            "href": f"/project/{backend.project_id}/events/{event['id']}/"
            f"{quote(event['timestamp'], safe='')}",
            "event": event["event"],
            "time": event["timestamp"],
            "distinct_id": event["distinct_id"],
        }

    columns = [
        column("event", "Event", "link"),
        column("time", "Time", "time"),
        column("distinct_id", "Distinct id"),
    ]
    table = PagedTable(
        backend, "/events", first, label="Events of this person", columns=columns, row_of=row
    )
    table.table.mark("events")
