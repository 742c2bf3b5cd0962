"""Saves a function or its draft, publishes and discards drafts.

Source: docs/functions.md#drafts.
"""

from collections.abc import Callable
from typing import cast

from nicegui import ui

from hoglet.console.api_client import Backend, Reply
from hoglet.console.components.save_warnings import open_with_warnings
from hoglet.console.records.functions import FunctionRecord, SaveWarning
from hoglet.console.records.project import RequestBody
from hoglet.console.widgets import Link, confirm, moment, notify, one_at_a_time, url_value

_CONFLICT = 409
_CHANGED = (
    "This function was saved in another tab or by another user after you opened it. Overwrite "
    "saves what is on this page; the other version stays under History. Cancel saves nothing."
)
_CHANGED_DRAFT = (
    "The draft was saved in another tab or by another user after you opened this page. Overwrite "
    "replaces it. Cancel saves nothing."
)


class DraftSwitch:
    """Switches between the live function and its draft, which ``?version=draft`` opens.

    Args:
        backend: API client of the signed-in user.
        path: the path of the function, ``/hog_functions/<id>``.
        function: the API record.
    """

    def __init__(self, backend: Backend, path: str, function: FunctionRecord) -> None:
        self._backend = backend
        self._path = path
        self._function = function
        self._draft: RequestBody | None = function.get("draft")
        self._saved_at: str | None = function.get("draft_updated_at")
        self.is_open = self._draft is not None and url_value("version") == "draft"
        self.edited: FunctionRecord = (
            cast("FunctionRecord", {**function, **(self._draft or {})})
            if self.is_open
            else function
        )
        self._save = one_at_a_time(self._save_open)
        self._page = f"/project/{backend.project_id}/functions/{function['id']}"

    def notice(self) -> None:
        """Render a notice that there is a draft, with a link to the other version."""
        if self._draft is None:
            return
        with ui.element("div").classes("notice"):
            ui.icon("edit").classes("text-xl")
            with ui.element("div").classes("toolbar"):
                if self.is_open:
                    ui.label("This is the draft. The live function runs until you publish it.")
                    Link("Show the live function", self._page)
                    ui.button("Discard draft", on_click=self._discard).props("flat dense")
                else:
                    ui.label("This function has a draft, saved")
                    moment(self._saved_at)
                    Link("Open the draft", f"{self._page}?version=draft")

    def buttons(
        self,
        body: Callable[[], RequestBody | None],
        saved: Callable[[FunctionRecord, list[SaveWarning]], None],
        refused: Callable[[Reply], None],
    ) -> None:
        """Render the buttons.

        Args:
            body: what to save; None if that is not possible.
            saved: called with the record and the warnings of the save.
            refused: called with the error.
        """
        self._body, self._saved, self._refused = body, saved, refused
        if self.is_open:
            ui.button("Save draft", icon="save", on_click=self.save).props("outline data-save")
            ui.button("Publish", icon="publish", on_click=one_at_a_time(self._publish))
            return
        if self._draft is None:
            ui.button("Start a draft", on_click=one_at_a_time(self._begin)).props("outline")
        ui.button("Save", icon="save", on_click=self.save).props('data-save title="Ctrl+S"')

    async def save(self) -> None:
        """Save the open version, unless it is being saved."""
        await self._save()

    async def _save_open(self) -> None:
        await self._send(is_draft=self.is_open)

    async def _send(self, *, is_draft: bool) -> Reply | None:
        """The response to a save; None if nothing was saved."""
        body = self._body()
        if body is None:
            return None
        reply = await (self._patch_draft(body) if is_draft else self._patch(body))
        if reply is None:
            return None
        if not reply.is_good:
            self._refused(reply)
            return None
        self._function["updated_at"] = reply.body["updated_at"]
        self._saved_at = reply.body.get("draft_updated_at")
        warnings: list[SaveWarning] = reply.body.get("warnings") or []
        self._saved(reply.body["draft"] if is_draft else reply.body, warnings)
        ui.notify("Draft saved." if is_draft else "Saved.", type="positive")
        return reply

    async def _patch(self, body: RequestBody) -> Reply | None:
        """Save the live function; None if it changed elsewhere and the user cancelled."""
        base = {"base_updated_at": self._function["updated_at"]}
        reply = await self._backend.send("PATCH", self._path, body | base)
        if reply.status != _CONFLICT:
            return reply
        if not await confirm("Changed elsewhere", _CHANGED, "Overwrite"):
            return None
        return await self._backend.send("PATCH", self._path, body)

    async def _patch_draft(self, body: RequestBody) -> Reply | None:
        """The same for the draft, for which the API does not check a base version."""
        stored = await self._backend.get(self._path)
        is_newer = stored.is_good and stored.body.get("draft_updated_at") != self._saved_at
        if is_newer and not await confirm("Changed elsewhere", _CHANGED_DRAFT, "Overwrite"):
            return None
        return await self._backend.send("PATCH", self._path, {"draft": body})

    async def _begin(self) -> bool:
        reply = await self._send(is_draft=True)
        if reply is None:
            return False
        open_with_warnings(f"{self._page}?version=draft", reply.body)
        return True

    async def _publish(self) -> bool:
        if await self._send(is_draft=True) is None:
            return False
        reply = await self._backend.send("POST", f"{self._path}/publish", {})
        if notify(reply, "Published."):
            open_with_warnings(self._page, reply.body)
        return reply.is_good

    async def _discard(self) -> None:
        text = "The changes of the draft are lost. The live function stays as it is."
        if not await confirm("Discard the draft?", text, "Discard"):
            return
        reply = await self._backend.send("PATCH", self._path, {"draft": None})
        if notify(reply, "Draft discarded."):
            ui.navigate.to(self._page)
