"""The dialog that creates an endpoint from an example query."""

from typing import Any

from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.pages.endpoints.versions import query_text
from hoglet.console.source_excerpt import code_block
from hoglet.console.widgets import failed, until_closed

_DATES = {"dateRange": {"date_from": "-30d"}}
_PAGEVIEW = {"kind": "EventsNode", "event": "$pageview", "name": "$pageview"}
_ANY_EVENT = {"kind": "EventsNode", "event": None, "name": "All events"}
_RETURNING = {"id": "$pageview", "type": "events"}

FIRST_QUERIES: dict[str, dict[str, Any]] = {
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
        chosen = ui.select(list(FIRST_QUERIES), value=first, label="Begin with", on_change=show)
        chosen.classes("w-full")
        preview = code_block(query_text(FIRST_QUERIES[first]))
        problem = ui.column().classes("w-full")
        with ui.row():
            ui.button("Create", on_click=create).props("no-caps")
            ui.button("Cancel", on_click=dialog.close).props("flat no-caps")
    await until_closed(dialog)
