"""The header of an endpoint's page: name, state, description and tags, editable in place."""

from typing import Any

from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.widgets import heading, notify

type Json = dict[str, Any]

KINDS = {
    "HogQLQuery": "SQL",
    "TrendsQuery": "Trends",
    "FunnelsQuery": "Funnel",
    "RetentionQuery": "Retention",
    "PathsQuery": "Paths",
    "StickinessQuery": "Stickiness",
    "LifecycleQuery": "Lifecycle",
}


def endpoint_head(backend: Backend, path: str, record: Json) -> None:
    """Render the header.

    Args:
        backend: the user's.
        path: of the endpoint, ``/endpoints/<name>``.
        record: the API's record.
    """

    async def switch(event: Any) -> None:
        if event.value == record["is_active"]:
            return  # reset below
        reply = await backend.send("PATCH", path, {"is_active": event.value})
        if notify(reply, "Switched on." if event.value else "Disabled: runs return 404."):
            ui.navigate.reload()  # disabling drops the table
        else:
            event.sender.set_value(record["is_active"])

    with ui.column().classes("w-full gap-1"):
        with ui.row().classes("w-full items-center gap-x-4 gap-y-1"):
            heading(record["name"])
            ui.badge(KINDS[record["query"]["kind"]]).props("outline")
            ui.badge(f"version {record['current_version']}").props("outline")
            ui.space()
            ui.switch("Active", value=record["is_active"], on_change=switch)
        _Details(backend, path, record).draw()


class _Details:
    """Description and tags, as text or as fields."""

    def __init__(self, backend: Backend, path: str, record: Json) -> None:
        self._backend = backend
        self._path = path
        self._description: str = record["description"]
        self._tags: list[str] = record["tags"]

    def draw(self) -> None:
        self._place = ui.row().classes("w-full items-center gap-2")
        self._show()

    def _show(self) -> None:
        self._place.clear()
        with self._place:
            text = self._description or "No description"
            ui.label(text).classes("text-sm opacity-80 break-words max-w-full").mark("description")
            for tag in self._tags:
                ui.badge(tag, color="grey-7").props("outline")
            button = ui.button(icon="edit", on_click=self._edit).props("flat dense round size=sm")
            button.props('aria-label="Edit description and tags"').tooltip("Edit")

    def _edit(self) -> None:
        async def save() -> None:
            await self._save(description.value or "", tags.value or "")

        self._place.clear()
        with self._place:
            description = ui.input("Description", value=self._description).classes("grow")
            tags = ui.input("Comma-separated tags", value=", ".join(self._tags))
            for field in (description, tags):
                field.props("outlined dense").on("keydown.enter", save)
            description.props("autofocus")
            ui.button("Save", on_click=save).props("no-caps")
            ui.button("Cancel", on_click=self._show).props("flat no-caps")

    async def _save(self, description: str, tags: str) -> None:
        named = [tag.strip() for tag in tags.split(",") if tag.strip()]
        reply = await self._backend.send(
            "PATCH", self._path, {"description": description, "tags": named}
        )
        if notify(reply, "Saved."):
            self._description, self._tags = reply.body["description"], reply.body["tags"]
            self._show()
