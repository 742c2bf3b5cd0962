"""The properties of a person: add, change and delete them."""

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.components.data_table import DataTable, column
from hoglet.console.components.form_dialog import FormDialog
from hoglet.console.pages.project.properties import property_text
from hoglet.console.records.project import PersonDetails
from hoglet.console.widgets import confirm, empty, notify
from hoglet.kit.json import Properties

_PENDING = "Accepted. It will be visible in a moment."


class PersonProperties:
    """A table of properties with actions.

    Args:
        backend: API client of the signed-in user.
        person: the API record.
        reload: reads the person again; changes are applied in the background.
    """

    def __init__(
        self,
        backend: Backend,
        person: PersonDetails,
        reload: Callable[[Properties], Awaitable[PersonDetails]],
    ) -> None:
        self._backend = backend
        self._path = f"/persons/{person['uuid']}"
        self._properties: Properties = person["properties"]
        self._reload = reload

    def draw(self) -> None:
        """Render the table."""
        self._box = ui.element("div").classes("pane")
        self._show()

    def _show(self) -> None:
        self._box.clear()
        with self._box:
            if self._properties:
                self._table()
            else:
                hint = "Events set properties with $set and $set_once."
                empty("No properties", hint, "list")
            button = ui.button("Add property", icon="add", on_click=lambda: self._edit(None))
            button.props("outline").style("align-self: flex-start")

    def _table(self) -> None:
        rows = [
            {
                "name": name,
                "value": property_text(self._properties[name]),
                "edit": "Edit",
                "delete": "Delete",
            }
            for name in sorted(self._properties)
        ]
        columns = [
            column("name", "Property"),
            column("value", "Value", "mono"),
            column("edit", "", "button"),
            column("delete", "", "button"),
        ]
        table = DataTable("Properties", columns, rows, key="name", on_action=self._act)
        table.mark("properties")

    async def _act(self, name: str, act: str, _value: Any) -> None:
        if act == "edit":
            await self._edit(name)
        elif await confirm(f"Delete {name}?", "Events may set it again.", "Delete"):
            path = f"{self._path}/delete_property"
            reply = await self._backend.send("POST", path, {"$unset": name})
            if notify(reply, _PENDING):
                await self._refresh(
                    {key: value for key, value in self._properties.items() if key != name}
                )

    async def _edit(self, name: str | None) -> None:
        dialog = FormDialog("Add property" if name is None else f"Edit {name}", "Save")
        with dialog.fields():
            key = ui.input("Name", value=name or "").classes("w-full")
            key.props("outlined dense").set_enabled(name is None)
            stored = "" if name is None else _typed(self._properties[name])
            value = ui.textarea("Value", value=stored).classes("w-full")
            value.props("outlined dense autogrow")
            (key if name is None else value).props("autofocus")
            value.props["hint"] = (
                'Numbers, true, false, null, {…} and […] are JSON; "12" is a text.'
            )
        edited: Properties = {}

        async def send() -> Any:
            edited["key"], edited["value"] = key.value or "", read_value(value.value or "")
            return await self._backend.send("POST", f"{self._path}/update_property", dict(edited))

        if await dialog.answered(send, {"key": key, "value": value}) is not None:
            ui.notify(_PENDING, type="positive")
            await self._refresh({**self._properties, edited["key"]: edited["value"]})

    async def _refresh(self, expected: Properties) -> None:
        self._properties = (await self._reload(expected))["properties"]
        self._show()


def read_value(text: str) -> Any:
    """A value as typed: parsed if it is JSON, else a string.

    Example:
        >>> [read_value("12"), read_value('"12"'), read_value("pro")]
        [12, '12', 'pro']
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _typed(value: Any) -> str:
    """The text that ``read_value`` reads as this value."""
    if isinstance(value, str) and read_value(value) == value:
        return value
    return orjson.dumps(value).decode()
