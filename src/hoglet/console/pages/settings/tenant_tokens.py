"""The tab of tenant tokens: creating one, and the keys that sign them.

Source: docs/tenant-tokens.md.
"""

from typing import Any

from nicegui import ui

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.data_table import DataTable, column
from hoglet.console.components.form_dialog import FormDialog
from hoglet.console.pages.project.variables import default_value
from hoglet.console.pages.settings.shown_once import shown_once
from hoglet.console.records.project import RequestBody, SigningKeyRecord
from hoglet.console.snippets import call_snippets
from hoglet.console.widgets import confirm, empty, failed, notify, section

_PATH = "/tenant_tokens"
_VARIABLES = "/insight_variables"
_MOST = 500
_LIVES = {3600: "1 hour", 86_400: "1 day", 7 * 86_400: "7 days", 30 * 86_400: "30 days"}
_GRACES = {0: "at once", 3600: "in 1 hour", 86_400: "in 1 day"} | {7 * 86_400: "in 7 days"}
_FIELD = "outlined dense options-dense"
_UNSTORED = "It is shown only once. Anyone who has it can run these endpoints until it expires."
_SHOWN_ONCE = "It is shown only once. Your servers sign tokens with it."


class TenantTokens:
    """The tab.

    Args:
        backend: API client of the signed-in user.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def draw(self) -> None:
        """Render it."""
        hint = (
            "A tenant token lets a browser run some endpoints for one of your customers: "
            "it fixes variables, such as tenant = acme, and cannot be used for anything else."
        )
        ui.label(hint).classes("muted")
        ui.button("Create tenant token", icon="add", on_click=self._create)
        with section("Signing keys"):
            ui.label(
                "Tokens are signed, not stored. Creating a new key revokes the tokens signed "
                "with earlier keys."
            )
            button = ui.button("Rotate signing key", icon="refresh", on_click=self._rotate)
            button.props("outline").style("align-self: flex-start")
            self._box = ui.element("div").classes("pane")
        await self._show()

    async def _show(self) -> None:
        reply = await self._backend.get(f"{_PATH}/keys")
        self._box.clear()
        with self._box:
            if not reply.is_good:
                failed(reply)
            elif not reply.body["results"]:
                empty("No signing key yet", "The first token creates one.", "key")
            else:
                self._table(reply.body["results"])

    def _table(self, keys: list[SigningKeyRecord]) -> None:
        rows = [
            {
                "id": key["id"],
                "state": "ends" if key["expires_at"] else "current",
                "state_tone": "warn" if key["expires_at"] else "ok",
                "created": key["created_at"],
                "ends": key["expires_at"],
                "revoke": "Revoke",
            }
            for key in keys
        ]
        columns = [
            column("id", "Key id", "mono"),
            column("state", "State", "badge"),
            column("created", "Created", "time"),
            column("ends", "Ends", "time"),
            column("revoke", "", "button"),
        ]
        DataTable("Signing keys", columns, rows, on_action=self._revoke)

    async def _revoke(self, key_id: str, _act: str, _value: Any) -> None:
        if await confirm(
            f"Revoke {key_id}?", "All tokens signed with it stop working at once.", "Revoke"
        ):
            path = f"{_PATH}/keys/{key_id}"
            notify(await self._backend.send("DELETE", path, None), "Revoked.")
            await self._show()

    async def _rotate(self) -> None:
        dialog = FormDialog("Rotate signing key", "Rotate")
        with dialog.fields():
            grace = ui.select(_GRACES, value=0, label="Tokens of earlier keys stop working")
            grace.props(f"{_FIELD} autofocus").classes("w-full")

        async def send() -> Reply:
            body = {"grace_seconds": grace.value}
            return await self._backend.send("POST", f"{_PATH}/rotate", body)

        reply = await dialog.answered(send, {"grace_seconds": grace})
        if reply is not None:
            await shown_once("signing key", reply.body["secret"], _SHOWN_ONCE)
            await self._show()

    async def _create(self) -> None:
        records = await self._results("/endpoints")
        types = {each["code_name"]: each["type"] for each in await self._results(_VARIABLES)}
        dialog = FormDialog("Create tenant token", "Create", wide=True)
        with dialog.fields():
            known = [each["name"] for each in records]
            names = ui.select(known, value=[], label="Endpoints", multiple=True)
            names.props(f"{_FIELD} use-chips autofocus").classes("w-full")
            variables = _Variables(types)
            life = ui.select(_LIVES, value=3600, label="Expires in").classes("w-full")
            life.props(_FIELD)

        async def send() -> Reply:
            body = {"endpoints": names.value, "variables": variables.value()}
            return await self._backend.send("POST", _PATH, body | {"expires_in": life.value})

        fields = {"endpoints": names, "expires_in": life}
        reply = await dialog.answered(send, fields)
        if reply is not None:
            urls = {each["name"]: each["url"] for each in records}
            token = reply.body["token"]
            call = call_snippets(urls[names.value[0]], {})["curl"]
            await shown_once("token", token, _UNSTORED, call.replace("$HOGLET_API_KEY", token))
            await self._show()

    async def _results(self, path: str) -> list[Any]:
        reply = await self._backend.get(path, limit=_MOST)
        return reply.body["results"] if reply.is_good else []


class _Variables:
    """Rows of name and value; values are converted to the type of their variable."""

    def __init__(self, types: dict[str, str]) -> None:
        self._types = types
        self._rows: list[dict[str, str]] = [{"name": "", "value": ""}]
        self._box = ui.element("div").classes("pane")
        self._draw()

    def value(self) -> RequestBody:
        """The fixed variables: ``{"tenant": "acme"}``.

        Raises:
            ValueError: a value is not of its variable's type.
        """
        return {
            row["name"]: self._typed(row["name"], row["value"]) for row in self._rows if row["name"]
        }

    def _typed(self, name: str, text: str) -> Any:
        kind = self._types.get(name, "String")
        return text if kind == "List" else default_value(kind, text)

    def _draw(self) -> None:
        self._box.clear()
        with self._box:
            for row in self._rows:
                with ui.element("div").classes("toolbar"):
                    self._row(row)
            button = ui.button("Add variable", icon="add", on_click=self._add)
            button.props("flat dense").style("align-self: flex-start")

    def _row(self, row: dict[str, str]) -> None:
        def change(key: str, value: Any) -> None:
            row[key] = str(value or "")

        def remove() -> None:
            self._rows = [each for each in self._rows if each is not row]
            self._draw()

        name = ui.input(
            "Fixed variable",
            value=row["name"],
            autocomplete=sorted(self._types),
            on_change=lambda event: change("name", event.value),
        )
        value = ui.input(
            "Its value", value=row["value"], on_change=lambda event: change("value", event.value)
        )
        for field in (name, value):
            field.props("outlined dense").classes("grow")
        button = ui.button(icon="delete", on_click=remove).props("flat dense")
        button.props["aria-label"] = f"Remove variable {row['name']}".strip()

    def _add(self) -> None:
        self._rows.append({"name": "", "value": ""})
        self._draw()
