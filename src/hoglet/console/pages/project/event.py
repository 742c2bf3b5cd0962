"""The page of an event: properties, elements, person, and the functions it triggered.

Source: docs/spec/data-and-queries.md#43-links.
"""

from typing import Any
from urllib.parse import quote
from uuid import UUID

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import DataTable, column
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.navigation import group_href, person_href
from hoglet.console.pages.functions.logs import LEVEL_TONES, message_cell
from hoglet.console.pages.not_found import not_found
from hoglet.console.pages.project.event_functions import EventFunctions
from hoglet.console.pages.project.properties import properties_table
from hoglet.console.records.project import EventRecord
from hoglet.console.session import Sessions
from hoglet.console.source_excerpt import code_block
from hoglet.console.widgets import Link, empty, exact_time, failed, heading, section
from hoglet.pipeline.ingest.matching import invocation_id

_FUNCTIONS = 1000
# Log lines of the event's runs, and others that contain its id: backfills, test runs.
_RUN_LINES = (
    "SELECT timestamp, log_source_id, level, message FROM log_entries "
    "WHERE has({runs}, instance_id) OR position(message, {event}) > 0 "
    "ORDER BY timestamp LIMIT 200"
)


def register(sessions: Sessions) -> None:
    """Add the pages; the time in the URL is informational."""

    @ui.page(
        "/project/{project_id}/events/{uuid}",
        title="Event · hoglet",
        response_timeout=BUILD_SECONDS,
    )
    async def event(request: Request, project_id: str, uuid: str) -> Response | None:
        return await _page(sessions, request, project_id, uuid)

    @ui.page(
        "/project/{project_id}/events/{uuid}/{timestamp:path}",
        title="Event · hoglet",
        response_timeout=BUILD_SECONDS,
    )
    async def event_at(
        request: Request,
        project_id: str,
        uuid: str,
        timestamp: str,  # noqa: ARG001
    ) -> Response | None:
        return await _page(sessions, request, project_id, uuid)


async def _page(
    sessions: Sessions, request: Request, project_id: str, uuid: str
) -> Response | None:
    async def build(backend: Backend) -> None:
        await _build(backend, uuid)

    return await signed_in_page(sessions, request, project_id, section="events", build=build)


async def _build(backend: Backend, uuid: str) -> None:
    reply = await backend.get(f"/events/{quote(uuid, safe='')}")
    if reply.status in {400, 404}:
        hint = "It was not captured, has not been stored yet, or was deleted."
        not_found(backend, f"There is no event {uuid}", hint)
        return
    if not reply.is_good:
        heading("Event")
        failed(reply)
        return
    event: EventRecord = reply.body
    heading(event["event"], f"{exact_time(event['timestamp'], backend.zone)} · {event['id']}")
    _person_line(backend, event)
    await _groups_line(backend, event["properties"].get("$groups"))
    with section("Properties"):
        properties_table(event["properties"], "The event has no properties.")
    if event["elements"]:
        with section("Elements"):
            _elements(event)
    functions = EventFunctions(backend, event)
    with section("Functions"):
        functions.draw()
    with section("Log lines"):
        await _runs(backend, event)
    functions.show_later()


def _person_line(backend: Backend, event: EventRecord) -> None:
    distinct_id = event["distinct_id"]
    person = event.get("person") or {}
    name = str(person.get("name") or distinct_id)
    with ui.row().classes("items-center gap-2"):
        ui.icon("person")
        target = person_href(backend.project_id, distinct_id, person.get("uuid"))
        ui.link(name, target).classes("break-all").mark("person")


async def _groups_line(backend: Backend, groups: Any) -> None:
    """Render links to the event's groups; unknown group types are only properties."""
    if not groups or not isinstance(groups, dict):
        return
    reply = await backend.get("/")
    types = reply.body["group_types"] if reply.is_good else []
    keys = [(each, groups.get(each["group_type"])) for each in types]
    links = [(each, key) for each, key in keys if isinstance(key, str) and key]
    if not links:
        return
    with ui.row().classes("items-center gap-2").mark("groups"):
        ui.icon("people")
        for each, key in links:
            href = group_href(backend.project_id, each["group_type_index"], key)
            Link(f"{each['group_type']} {key}", href).classes("break-all")


def _elements(event: EventRecord) -> None:
    rows = [
        {
            "order": element["order"],
            "tag": element["tag_name"] or "",
            "text": element["text"] or "",
            "attributes": ", ".join(
                f"{name}={value}" for name, value in (element["attributes"] or {}).items()
            ),
        }
        for element in event["elements"]
    ]
    columns = [column("tag", "Tag"), column("text", "Text"), column("attributes", "Attributes")]
    DataTable("Elements", columns, rows, key="order").mark("elements")
    code_block(event["elements_chain"])


async def _runs(backend: Backend, event: EventRecord) -> None:
    """Log lines of the runs that the event triggered."""
    functions = await backend.get("/hog_functions", limit=_FUNCTIONS)
    if not functions.is_good:
        failed(functions)
        return
    names = {
        function["id"]: function["name"] or "Untitled" for function in functions.body["results"]
    }
    runs = [
        str(invocation_id(UUID(event["id"]), function["id"], mapping))
        for function in functions.body["results"]
        for mapping in (None, *range(len(function.get("mappings") or ())))
    ]
    reply = await backend.hogql(_RUN_LINES, runs=runs, event=event["id"])
    if not reply.is_good:
        failed(reply)
    elif not reply.body["results"]:
        empty("No log lines", "No function logged anything about this event.", "subject")
    else:
        _lines(backend, reply.body["results"], names)


def _lines(backend: Backend, lines: list[list[Any]], names: dict[str, str]) -> None:
    rows = [
        {
            "id": index,
            "time": timestamp,
            "function": names.get(source, source),
            "href": f"/project/{backend.project_id}/functions/{source}?tab=Logs",
            "level": level,
            "level_tone": LEVEL_TONES.get(level, ""),
            "message": message_cell(message, backend.project_id)["message"],
        }
        for index, (timestamp, source, level, message) in enumerate(lines)
    ]
    columns = [
        column("function", "Function", "link"),
        column("time", "Time", "time"),
        column("level", "Level", "badge"),
        column("message", "Message", "mono"),
    ]
    DataTable("Log lines of runs", columns, rows).mark("runs")
