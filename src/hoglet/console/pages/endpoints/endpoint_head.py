"""The header of an endpoint's page: name, state, description and tags, editable in place."""

from typing import Any
from urllib.parse import quote

from nicegui import ui

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.form_dialog import FormDialog
from hoglet.console.records.endpoints import EndpointRecord
from hoglet.console.widgets import clamped, confirm, heading, notify

KINDS = {
    "HogQLQuery": "SQL",
    "TrendsQuery": "Trends",
    "FunnelsQuery": "Funnel",
    "RetentionQuery": "Retention",
    "PathsQuery": "Paths",
    "StickinessQuery": "Stickiness",
    "LifecycleQuery": "Lifecycle",
}


def endpoint_head(backend: Backend, path: str, record: EndpointRecord) -> None:
    """Render the header.

    Args:
        backend: API client of the signed-in user.
        path: the path of the endpoint, ``/endpoints/<name>``.
        record: the API record.
    """

    async def switch(event: Any) -> None:
        if event.value == record["is_active"]:
            return  # reset below
        reply = await backend.send("PATCH", path, {"is_active": event.value})
        if notify(reply, "Enabled." if event.value else "Disabled: runs return 404."):
            ui.navigate.reload()  # disabling drops the table
        else:
            event.sender.set_value(record["is_active"])

    with ui.column().classes("w-full gap-1"):
        with ui.row().classes("w-full items-center gap-x-4 gap-y-1"):
            heading(record["name"])
            ui.badge(KINDS[record["query"]["kind"]]).props("outline")
            ui.badge(f"version {record['current_version']}").props("outline")
            ui.space()
            with ui.row().classes("items-center gap-2 no-wrap"):
                ui.switch("Active", value=record["is_active"], on_change=switch)
                _Acts(backend, path, record).draw()
        _Details(backend, path, record).draw()


class _Acts:
    """The buttons to copy an endpoint under another name (instead of renaming) and to delete it."""

    def __init__(self, backend: Backend, path: str, record: EndpointRecord) -> None:
        self._backend = backend
        self._path = path
        self._record = record

    def draw(self) -> None:
        """Render the buttons."""
        for icon, label, act in (
            ("content_copy", "Copy under another name", self._copy),
            ("delete", "Delete", self._delete),
        ):
            button = ui.button(icon=icon, on_click=act).props("flat dense")
            button.props["aria-label"] = label
            button.tooltip(label)

    async def _copy(self) -> None:
        dialog = FormDialog("Copy under another name", "Copy")
        with dialog.fields():
            ui.label(
                "An endpoint cannot be renamed: its name is part of the URL that programs call. "
                "Copy it under another name, move the callers, then delete this one."
            )
            name = ui.input("New name", value=f"{self._record['name']}_copy").classes("w-full")
            name.props("outlined dense autofocus")

        async def send() -> Reply:
            body = {key: self._record[key] for key in ("description", "query", "tags")}
            return await self._backend.send("POST", "/endpoints", body | {"name": name.value or ""})

        reply = await dialog.answered(send, {"name": name})
        if reply is not None:
            copy = quote(reply.body["name"])
            ui.navigate.to(f"/project/{self._backend.project_id}/endpoints/{copy}")

    async def _delete(self) -> None:
        text = "Its versions and its table are deleted; programs that call it get 404."
        if not await confirm(f"Delete {self._record['name']}?", text, "Delete"):
            return
        if notify(await self._backend.send("DELETE", self._path, None), "Deleted."):
            ui.navigate.to(f"/project/{self._backend.project_id}/endpoints")


class _Details:
    """Description and tags, as text or as fields."""

    def __init__(self, backend: Backend, path: str, record: EndpointRecord) -> None:
        self._backend = backend
        self._path = path
        self._description: str = record["description"]
        self._tags: list[str] = record["tags"]

    def draw(self) -> None:
        self._row = ui.row().classes("w-full items-center gap-2")
        self._show()

    def _show(self) -> None:
        self._row.clear()
        with self._row:
            text = self._description or "No description"
            label = clamped(text).classes("text-sm opacity-80 break-words")
            label.mark("description")
            for tag in self._tags:
                ui.badge(tag, color="grey-7").props("outline")
            button = ui.button(icon="edit", on_click=self._edit).props("flat dense round size=sm")
            button.props('aria-label="Edit description and tags"').tooltip("Edit")

    def _edit(self) -> None:
        async def save() -> None:
            await self._save(description.value or "", tags.value or "")

        self._row.clear()
        with self._row:
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
