"""The settings page: the project, and keys that are shown once when they are created."""

from typing import Any
from zoneinfo import available_timezones

from nicegui import ui
from starlette.requests import Request
from starlette.responses import Response

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.data_table import DataTable, column
from hoglet.console.conditions_form import ConditionsForm
from hoglet.console.layout import BUILD_SECONDS, signed_in_page
from hoglet.console.session import Sessions
from hoglet.console.source_excerpt import code_block
from hoglet.console.suggestions import Suggestions
from hoglet.console.widgets import (
    Text,
    confirm,
    empty,
    failed,
    heading,
    notify,
    section,
    tabs,
    until_closed,
)

type Json = dict[str, Any]

_PERSONAL = "/api/personal_api_keys"


def register(sessions: Sessions) -> None:
    """Add the page."""

    @ui.page(
        "/project/{project_id}/settings",
        title="Settings · hoglet",
        response_timeout=BUILD_SECONDS,
    )
    async def settings(request: Request, project_id: str) -> Response | None:
        async def build(backend: Backend) -> None:
            heading("Settings")
            secret = f"/api/projects/{project_id}/project_secret_api_keys"
            await tabs(
                {
                    "Project": lambda: _project(backend),
                    "Personal keys": _Keys(backend, _PERSONAL, "personal key", "*").draw,
                    "Secret keys": _Keys(backend, secret, "secret key", "endpoint:read").draw,
                }
            )

        return await signed_in_page(sessions, request, project_id, section="settings", build=build)


async def _project(backend: Backend) -> None:
    path = f"/api/projects/{backend.project_id}"
    reply = await backend.call("GET", path)
    if not reply.is_good:
        failed(reply)
        return
    project: Json = reply.body

    async def save() -> None:
        body = {"name": name.value or "", "timezone": zone.value}
        saved = await backend.call("PATCH", path, body=body)
        problem.set_text("" if saved.is_good else saved.problem)
        if saved.is_good:
            ui.navigate.reload()

    with ui.element("div").classes("card max-w-xl"):
        name = ui.input("Name", value=project["name"]).props("outlined dense").classes("w-full")
        zones = sorted({*available_timezones(), project["timezone"]})
        zone = ui.select(zones, value=project["timezone"], label="Time zone", with_input=True)
        zone.props("outlined dense options-dense").classes("w-full")
        problem = ui.label().classes("field-error").props("role=alert")
        ui.button("Save", icon="save", on_click=save).style("align-self: flex-start")
    with section("Test accounts"):
        await _test_accounts(backend, path, project)
    with section("Token"):
        ui.label("Sends events to this project; it reads nothing, so it may be public.").classes(
            "muted"
        )
        code_block(project["api_token"])


async def _test_accounts(backend: Backend, path: str, project: Json) -> None:
    """Filters that leave test accounts out; functions and queries use them on demand."""
    suggestions = Suggestions(backend)
    await suggestions.load()
    filters: Json = {"properties": [dict(each) for each in project["test_account_filters"]]}

    async def save() -> None:
        body = {"test_account_filters": filters["properties"]}
        saved = await backend.call("PATCH", path, body=body)
        problem.set_text("" if saved.is_good else saved.problem)
        if saved.is_good:
            ui.notify("Saved.", type="positive")

    hint = "Functions and queries without test accounts only see events that meet all of these."
    ui.label(hint).classes("muted")
    with ui.element("div").classes("card"):
        ConditionsForm(filters, "condition of real accounts", suggestions, lambda: None)
        problem = ui.label().classes("field-error").props("role=alert")
        button = ui.button("Update test accounts", icon="save", on_click=save)
        button.props("outline").style("align-self: flex-start")


class _Keys:
    """Keys of one kind: list, create, roll, delete.

    Args:
        backend: the user's.
        path: of the list.
        noun: of one key.
        scopes: suggested for a new one.
    """

    def __init__(self, backend: Backend, path: str, noun: str, scopes: str) -> None:
        self._backend = backend
        self._path = path
        self._noun = noun
        self._scopes = scopes

    async def draw(self) -> None:
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
            keys: list[Json] = reply.body if isinstance(reply.body, list) else reply.body["results"]
            if not keys:
                empty(f"No {self._noun}s", "Programs sign their requests with a key.", "key")
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
                await self._shown_once(await self._backend.call("POST", path, body={}))
        elif await confirm(f"Delete {label}?", "Programs that use it are refused.", "Delete"):
            reply = await self._backend.call("DELETE", f"{self._path}/{key_id}")
            notify(reply, "Deleted.")
        await self._show()

    async def _create(self) -> None:
        created: list[Reply] = []

        async def create() -> None:
            wanted = [part.strip() for part in (scopes.value or "").split(",") if part.strip()]
            body = {"label": label.value or "", "scopes": wanted}
            reply = await self._backend.call("POST", self._path, body=body)
            if reply.is_good:
                created.append(reply)
                dialog.close()
            else:
                problem.set_text(reply.problem)

        with ui.dialog(value=True) as dialog, ui.card().classes("w-full max-w-xl"):
            dialog.props["aria-label"] = f"Create {self._noun}"
            Text("h2", f"Create {self._noun}")
            label = ui.input("Label").props("outlined dense autofocus").classes("w-full")
            scopes = ui.input("Scopes, separated by commas", value=self._scopes)
            scopes.props("outlined dense").classes("w-full")
            problem = ui.label().classes("field-error").props("role=alert")
            with ui.row().classes("w-full justify-end gap-2"):
                ui.button("Cancel", on_click=dialog.close).props("flat")
                ui.button("Create", on_click=create)
        await until_closed(dialog)
        for reply in created:
            await self._shown_once(reply)
            await self._show()

    async def _shown_once(self, reply: Reply) -> None:
        if not reply.is_good:
            notify(reply, "")
            return
        with ui.dialog(value=True) as dialog, ui.card().classes("w-full max-w-xl"):
            dialog.props("persistent")
            dialog.props["aria-label"] = "The new key"
            Text("h2", "Copy the key now")
            ui.label("It is shown this once; hoglet keeps a hash of it only.")
            code_block(reply.body["value"], wraps=True)
            ui.button("Done", on_click=dialog.close).style("align-self: flex-end")
        await until_closed(dialog)
