"""The list of endpoints."""

from typing import Any

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.backend import Backend
from hoglet.console.frame import (
    badge_cell,
    columns,
    empty,
    failed,
    heading,
    link_cell,
    short_time,
    signed_in_page,
    tell,
)
from hoglet.console.session import Sessions

_FIRST_QUERY = "SELECT event, count() AS events FROM events GROUP BY event ORDER BY events DESC"


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page("/project/{project_id}/endpoints", title="Endpoints · hoglet")
    async def endpoints(request: Request, project_id: str) -> Response | None:
        return await signed_in_page(
            sessions, request, project_id, section="endpoints", build=_build
        )


async def _build(backend: Backend) -> None:
    with ui.row().classes("w-full items-center"):
        heading("Endpoints", "Saved queries that programs call by name")
        ui.space()
        name = ui.input(placeholder="name_of_a_new_one").props("dense outlined")
        ui.button("New endpoint", icon="add", on_click=lambda: _create(backend, name.value)).props(
            "no-caps"
        )
    reply = await backend.get("/endpoints")
    if not reply.is_good:
        failed(reply)
    elif not reply.body["results"]:
        empty("No endpoints yet", "Save a query under a name and call it over HTTP.", "api")
    else:
        _table(backend, reply.body["results"])


def _table(backend: Backend, records: list[dict[str, Any]]) -> None:
    table = ui.table(
        rows=[_row(backend, record) for record in records],
        row_key="name",
        pagination=25,
        columns=columns(
            ("name", "Name"),
            ("kind", "Query"),
            ("version", "Version"),
            ("active", "Active"),
            ("source", "Source"),
            ("executed", "Last run (UTC)"),
        ),
    ).classes("w-full")
    link_cell(table, "name")
    badge_cell(table, "active")


def _row(backend: Backend, record: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": record["name"],
        "href": f"/project/{backend.project_id}/endpoints/{record['name']}",
        "kind": record["query"]["kind"],
        "version": record["current_version"],
        "active": "on" if record["is_active"] else "off",
        "active_color": "positive" if record["is_active"] else "grey",
        "source": "materialized" if record["is_materialized"] else "inline",
        "executed": short_time(record["last_executed_at"]),
    }


async def _create(backend: Backend, name: str | None) -> None:
    query = {"kind": "HogQLQuery", "query": _FIRST_QUERY}
    reply = await backend.send("POST", "/endpoints", {"name": name or "", "query": query})
    if tell(reply, "Made."):
        ui.navigate.to(f"/project/{backend.project_id}/endpoints/{reply.body['name']}")
