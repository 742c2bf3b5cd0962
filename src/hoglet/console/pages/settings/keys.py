"""Keys of the API, shown once when they are created."""

from typing import Any

from nicegui import ui

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.data_table import DataTable, column
from hoglet.console.components.form_dialog import FormDialog
from hoglet.console.pages.settings.shown_once import shown_once
from hoglet.console.records.project import ApiKeyRecord
from hoglet.console.widgets import confirm, empty, failed, notify

_HASHED = "It is shown only once; hoglet stores a hash of it."


class Keys:
    """Keys of one kind: list, create, roll, delete.

    Args:
        backend: API client of the signed-in user.
        path: the API path of the list.
        noun: what a key is called.
        scopes: suggested for a new one.
    """

    def __init__(self, backend: Backend, path: str, noun: str, scopes: str) -> None:
        self._backend = backend
        self._path = path
        self._noun = noun
        self._scopes = scopes

    async def draw(self) -> None:
        """Render the list."""
        ui.button(f"Create {self._noun}", icon="add", on_click=self._create)
        self._box = ui.element("div").classes("pane")
        await self._show()

    async def _show(self) -> None:
        reply = await self._backend.call("GET", self._path)
        self._box.clear()
        with self._box:
            if not reply.is_good:
                failed(reply)
                return
            keys: list[ApiKeyRecord] = (
                reply.body if isinstance(reply.body, list) else reply.body["results"]
            )
            if not keys:
                empty(f"No {self._noun}s", "Programs authenticate with a key.", "key")
                return
            rows = [
                {
                    "id": key["id"],
                    "label": key["label"],
                    "mask": key["mask_value"],
                    "scopes": ", ".join(key["scopes"] or []),
                    "used": key.get("last_used_at"),
                    "created": key["created_at"],
                    "roll": "Roll",
                    "delete": "Delete",
                }
                for key in keys
            ]
            columns = [
                column("label", "Label"),
                column("mask", "Key", "mono"),
                column("scopes", "Scopes"),
                column("used", "Last used", "time"),
                column("created", "Created", "time"),
                column("roll", "", "button"),
                column("delete", "", "button"),
            ]
            self._labels = {key["id"]: key["label"] for key in keys}
            DataTable(f"{self._noun.capitalize()}s", columns, rows, on_action=self._act)

    async def _act(self, key_id: str, act: str, _value: Any) -> None:
        label = self._labels[key_id]
        if act == "roll":
            if await confirm(f"Roll {label}?", "The old value stops working at once.", "Roll"):
                path = f"{self._path}/{key_id}/roll"
                reply = await self._backend.call("POST", path, body={})
                if notify(reply, "Rolled."):
                    await shown_once("key", reply.body["value"], _HASHED)
        elif await confirm(f"Delete {label}?", "Programs that use it are refused.", "Delete"):
            reply = await self._backend.call("DELETE", f"{self._path}/{key_id}")
            notify(reply, "Deleted.")
        await self._show()

    async def _create(self) -> None:
        dialog = FormDialog(f"Create {self._noun}", "Create")
        with dialog.fields():
            label = ui.input("Label").props("outlined dense autofocus").classes("w-full")
            scopes = ui.input("Scopes, separated by commas", value=self._scopes)
            scopes.props("outlined dense").classes("w-full")

        async def send() -> Reply:
            requested = [part.strip() for part in (scopes.value or "").split(",") if part.strip()]
            body = {"label": label.value or "", "scopes": requested}
            return await self._backend.call("POST", self._path, body=body)

        reply = await dialog.answered(send, {"label": label, "scopes": scopes})
        if reply is not None:
            await shown_once("key", reply.body["value"], _HASHED)
            await self._show()
